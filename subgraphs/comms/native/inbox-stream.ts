import type { FastifyInstance } from 'fastify';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Authenticate } from '../../../runtime/service.js';
import { serveStreams } from '../../../runtime/streams/streams.js';
import { inboxFeed, inboxNow, shownTo, WHOSE_TICKET } from '../commands/stream.js';
import { INBOX_WATCHERS } from '../entities/access.js';

/** Items and numbers of the own inbox as they change. Whose it is says the token, so that nobody loses it but by the token's end. */
export function inboxStream(app: FastifyInstance, host: ServiceHost, authenticate: Authenticate): void {
  serveStreams(
    app,
    host,
    {
      feed: inboxFeed,
      path: '/comms/v1/inbox/stream',
      access: INBOX_WATCHERS,
      streamOf: (_request, { userId }) => userId ?? WHOSE_TICKET,
      open: async () => ({ team: false }),
      gone: async () => new Set(),
      state: async () => ({}),
      own: inboxNow,
      shown: shownTo,
    },
    authenticate,
  );
}
