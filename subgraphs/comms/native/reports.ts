import type { FastifyInstance, FastifyRequest } from 'fastify';
import { plugin } from '../../../runtime/http/plugin.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isSigned, takeReport } from '../commands/reports.js';

const LIMIT_BYTES = 65_536;

async function take(host: ServiceHost, { headers, body }: FastifyRequest): Promise<void> {
  const raw = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const now = await host.read(async ctx => ctx.now());
  const header = headers['x-comms-signature'];
  if (!isSigned(host, typeof header === 'string' ? header : undefined, raw, now))
    fail('unauthenticated', 'The signature or its time is not valid', { reason: 'invalid_signature' });
  await host.transaction(ctx => takeReport(ctx, raw));
}

/** What becomes of mails, told by their provider and proven over the raw body. Source: comms 4.5. */
export const reports = (host: ServiceHost) =>
  plugin('comms-reports', async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: LIMIT_BYTES }, (_request, body, done) => done(null, body));
    scope.post('/comms/v1/webhooks/email', { bodyLimit: LIMIT_BYTES }, async (request, reply) => {
      await take(host, request);
      return reply.status(200).send({ received: true });
    });
  });
