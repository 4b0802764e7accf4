import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ANONYMOUS, type Caller } from '../../../runtime/request/caller.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import type { Viewer } from '../../../runtime/streams/connection.js';
import { serveStreams } from '../../../runtime/streams/streams.js';
import { isKicked } from '../commands/rooms.js';
import { chatFeed } from '../commands/feeds.js';
import { deleteMessage, moderatesNow, sayInChat } from '../commands/chat.js';
import { LiveRole } from '../entities/enums.js';
import { chatOf, type Chatter } from '../ports/chat.js';
import { embeddedOf } from '../ports/providers.js';

const refuse = (): never => fail('unauthenticated', 'The chat token is not valid', { reason: 'invalid_token' });

/** Whom a request's chat token stands for; not for who was removed. @throws Problem unauthenticated, forbidden */
async function chatterOf(host: ServiceHost, token: unknown): Promise<Chatter> {
  const chatter = typeof token === 'string' ? await chatOf(host).readToken(token) : null;
  if (chatter === null) return refuse();
  if (await host.read(ctx => isKicked(ctx, chatter.sessionId, chatter.participantId)))
    fail('forbidden', 'You were removed', { reason: 'removed' });
  return chatter;
}

const byHeader = (host: ServiceHost, request: FastifyRequest): Promise<Chatter> => chatterOf(host, request.headers['x-chat-token']);

/** By the token, and in the team now: a token lasts an hour, a part in the team may end before. */
const isModerator = async (host: ServiceHost, { role, sessionId, participantId }: Chatter): Promise<boolean> =>
  role === LiveRole.MODERATOR && (await host.read(ctx => moderatesNow(ctx, sessionId, participantId)));

function wordsOf(body: unknown): string {
  const { text } = (body ?? {}) as { text?: unknown };
  return typeof text === 'string' && text.trim() !== '' && text.length <= 500 ? text : invalid('/text', 'must have 1 to 500 characters');
}

/** The embedded chat: messages of a session, in the format of all streams. Source: live 4.9. */
export function mountChat(app: FastifyInstance, host: ServiceHost): void {
  if (embeddedOf(host) === null) return;
  app.post('/live/embedded-chat/messages', async (request, reply) => {
    const [chatter, text] = [await byHeader(host, request), wordsOf(request.body)];
    return reply.status(201).send(await host.transaction(ctx => sayInChat(ctx, chatter, text)));
  });
  app.delete<{ Params: { id: string } }>('/live/embedded-chat/messages/:id', async (request, reply) => {
    const chatter = await byHeader(host, request);
    if (!(await isModerator(host, chatter))) fail('forbidden', 'Only moderators may delete messages');
    await host.transaction(ctx => deleteMessage(ctx, chatter, request.params.id));
    return reply.status(204).send();
  });
  const chatters = new WeakMap<Caller, Chatter>();
  const authenticate = async (request: FastifyRequest) => {
    const chatter = await chatterOf(host, (request.query as { token?: unknown }).token);
    const caller: Caller = { ...ANONYMOUS, kind: 'user', clientId: 'embedded-chat', userId: null };
    chatters.set(caller, chatter);
    return (request.info = { ...request.info, token: '', caller });
  };
  const gone = async (ctx: Context, id: string, viewers: readonly Viewer[]): Promise<ReadonlySet<Viewer>> => {
    const kicked: Viewer[] = [];
    for (const viewer of viewers) if (await isKicked(ctx, id, chatters.get(viewer.caller)!.participantId)) kicked.push(viewer);
    return new Set(kicked);
  };
  serveStreams(
    app,
    host,
    {
      feed: chatFeed,
      path: '/live/embedded-chat/stream',
      access: { public: true },
      streamOf: (_request, caller) => chatters.get(caller)!.sessionId,
      open: async () => ({ team: false }),
      gone,
      state: async () => ({}),
    },
    authenticate,
  );
}
