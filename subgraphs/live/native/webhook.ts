import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { NativePath } from '../../../runtime/service.js';
import { takeReport } from '../commands/vendor.js';
import { providerOf } from '../ports/providers.js';

/** Longest body, bytes. Source: live 4.7. */
const LIMIT_BYTES = 262_144;
const TYPES = ['application/json', 'application/webhook+json'];

/** Verified on the raw bytes before anything is stored. */
async function take(host: ServiceHost, request: FastifyRequest): Promise<void> {
  const raw = (request.body as Buffer | null) ?? Buffer.alloc(0);
  const header = (name: string): string | null => (typeof request.headers[name] === 'string' ? request.headers[name] : null);
  const event = await providerOf(host).verifyWebhook(raw, header);
  if (event === null) return fail('unauthenticated', 'The signature or its time is not valid', { reason: 'invalid_signature' });
  await host.transaction(ctx => takeReport(ctx, event));
}

/** Reports of the streaming vendor, proven by their signature over the raw body. */
export async function mountWebhook(app: FastifyInstance, host: ServiceHost): Promise<void> {
  await app.register(async function streamingWebhook(scope) {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(TYPES, { parseAs: 'buffer', bodyLimit: LIMIT_BYTES }, (_request, body, done) => done(null, body));
    scope.post('/live/webhooks/streaming', { bodyLimit: LIMIT_BYTES }, async (request, reply) => {
      await take(host, request);
      return reply.status(200).send({ received: true });
    });
  });
}

export const webhookPaths: readonly NativePath[] = [
  {
    method: 'POST',
    path: '/webhooks/streaming',
    summary: "Take the streaming vendor's signed report",
    status: 200,
    public: true,
    requestBody: { contentType: 'application/json', schema: { type: 'object' } },
    response: {
      contentType: 'application/json',
      schema: { type: 'object', required: ['received'], properties: { received: { type: 'boolean', const: true } } },
    },
  },
];
