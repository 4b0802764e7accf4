import type { FastifyInstance } from 'fastify';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Authenticate, NativePath } from '../../../runtime/service.js';
import { devMail } from './dev-mail.js';
import { inboxStream } from './inbox-stream.js';
import { mailLinks } from './mail-links.js';
import { messageLink } from './message-link.js';
import { reports } from './reports.js';

/** Pages of mails, the link of messages, the stream of the inbox, reports of providers, and in development the mailbox. */
export async function native(app: FastifyInstance, host: ServiceHost, authenticate: Authenticate): Promise<void> {
  await app.register(mailLinks(host));
  await app.register(messageLink(host, authenticate));
  inboxStream(app, host, authenticate);
  await app.register(reports(host));
  await app.register(devMail(host));
}

const page = { contentType: 'text/html', schema: { type: 'string' } };
const form = { contentType: 'application/x-www-form-urlencoded', schema: { type: 'object' } };

export const nativePaths: readonly NativePath[] = [
  {
    method: 'GET',
    path: '/v1/unsubscribe/{token}',
    summary: 'Show a form that stops mails; changes nothing',
    status: 200,
    public: true,
    response: page,
  },
  {
    method: 'POST',
    path: '/v1/unsubscribe/{token}',
    summary: 'Stop mails of a topic (RFC 8058)',
    status: 200,
    public: true,
    requestBody: form,
    response: page,
  },
  {
    method: 'GET',
    path: '/v1/preferences/link/{token}',
    summary: "Show one address's e-mail switches",
    status: 200,
    public: true,
    response: page,
  },
  {
    method: 'POST',
    path: '/v1/preferences/link/{token}',
    summary: "Change one address's e-mail switches",
    status: 200,
    public: true,
    requestBody: form,
    response: page,
  },
  {
    method: 'GET',
    path: '/v1/inbox/stream',
    summary: 'Follow the own inbox as server-sent events',
    status: 200,
    response: { contentType: 'text/event-stream', schema: { type: 'string' } },
  },
  { method: 'GET', path: '/m/{id}', summary: 'Follow the link of a message', status: 200, public: true, response: page },
  { method: 'GET', path: '/m/callback', summary: 'Come back from the sign-in of the pages', status: 303, public: true, response: page },
  {
    method: 'POST',
    path: '/v1/webhooks/email',
    summary: 'Take a signed report of the e-mail provider',
    status: 200,
    public: true,
    requestBody: { contentType: 'application/json', schema: { type: 'object' } },
    response: {
      contentType: 'application/json',
      schema: { type: 'object', required: ['received'], properties: { received: { type: 'boolean', const: true } } },
    },
  },
];
