import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { NativePath } from '../../../runtime/service.js';
import { plugin } from '../../../runtime/http/plugin.js';
import { keepNotice } from '../commands/processor-event.js';
import type { HeaderReader } from '../ports/processor.js';
import { processorOf, processorSettings } from '../ports/processors.js';
import { handleSoon } from '../workers/processor-events.js';

/** Longest body, bytes. Source: payments 4.1. */
const LIMIT_BYTES = 262_144;

const headersOf =
  ({ headers }: FastifyRequest): HeaderReader =>
  name => {
    const value = headers[name];
    return typeof value === 'string' ? value : null;
  };

/** Verified on the raw bytes, kept, answered; it is handled afterwards. Source: payments 4.5. */
async function ingest(host: ServiceHost, request: FastifyRequest): Promise<void> {
  const [processor, rawBody] = [processorOf(host), (request.body as Buffer | null) ?? Buffer.alloc(0)];
  const secrets = processorSettings(host).webhookSecrets[processor.name as 'sandbox' | 'stripe'];
  const now = await host.read(async ctx => ctx.now());
  const notice = processor.verifyWebhook(rawBody, headersOf(request), secrets, now);
  if (notice === 'signature') return fail('unauthenticated', 'The signature or its time is not valid', { reason: 'invalid_signature' });
  if (notice === 'malformed') return fail('invalid_request', 'The body is not an event of the processor');
  const id = await host.transaction(ctx => keepNotice(ctx, processor.name, notice, rawBody));
  if (id !== null) handleSoon(host, { id, notice });
}

/** Calls of the processor, proven by their signature over the raw body. */
export async function mountWebhook(app: FastifyInstance, host: ServiceHost): Promise<void> {
  processorSettings(host); // a wrong setting stops the start
  await app.register(
    plugin('payments webhook', async scope => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: LIMIT_BYTES }, (_request, body, done) => done(null, body));
      scope.post('/payments/v1/webhooks/processor', { bodyLimit: LIMIT_BYTES }, async (request, reply) => {
        await ingest(host, request);
        return reply.status(200).send({ received: true });
      });
    }),
  );
}

export const webhookPaths: readonly NativePath[] = [
  {
    method: 'POST',
    path: '/v1/webhooks/processor',
    summary: "Take the payment processor's signed call",
    status: 200,
    public: true,
    requestBody: { contentType: 'application/json', schema: { type: 'object' } },
    response: {
      contentType: 'application/json',
      schema: { type: 'object', required: ['received'], properties: { received: { type: 'boolean', const: true } } },
    },
  },
];
