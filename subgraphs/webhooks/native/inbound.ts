import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail } from '../../../runtime/request/errors.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { NativePath } from '../../../runtime/service.js';
import { plugin } from '../../../runtime/http/plugin.js';
import { settingsOf } from '../ports/settings.js';
import { inboundSecrets, isGenuine, type InboundCall } from '../ports/inbound-verifier.js';
import { acceptInboundWebhook, countRejected } from '../commands/inbound.js';
import { isInboundSource, type InboundSourceName } from '../rules/inbound.js';

/** Longest body, bytes. Source: section 4, inbound. */
const LIMIT_BYTES = 1_048_576;

function callOf({ headers, body }: FastifyRequest): InboundCall {
  return {
    header: name => {
      const value = headers[name.toLowerCase()];
      return typeof value === 'string' ? value : '';
    },
    body: (body as Buffer | null) ?? Buffer.alloc(0),
  };
}

async function accept(host: ServiceHost, source: InboundSourceName, call: InboundCall): Promise<string> {
  const now = await host.read(async ctx => ctx.now().getTime());
  if (!isGenuine(source, inboundSecrets(host.config, source), call, now)) {
    await host.transaction(ctx => countRejected(ctx, source));
    fail('unauthenticated', 'The signature or its time is not valid');
  }
  return host.transaction(ctx => acceptInboundWebhook(ctx, source, call));
}

/** Calls of vendors, proven by their signature over the raw body. Source: section 4, inbound. */
export async function mountInbound(app: FastifyInstance, host: ServiceHost): Promise<void> {
  settingsOf(host); // a wrong setting stops the start
  await app.register(
    plugin('inbound', async scope => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: LIMIT_BYTES }, (_request, body, done) => done(null, body));
      scope.post<{ Params: { source: string } }>('/webhooks/v1/inbound/:source', { bodyLimit: LIMIT_BYTES }, async (request, reply) => {
        const { source } = request.params;
        if (!isInboundSource(source)) fail('not_found', 'Not found');
        return reply.status(200).send({ receipt_id: await accept(host, source, callOf(request)) });
      });
    }),
  );
}

export const inboundPaths: readonly NativePath[] = [
  {
    method: 'POST',
    path: '/v1/inbound/{source}',
    summary: "Take a vendor's signed call",
    status: 200,
    public: true,
    requestBody: { contentType: 'application/json', schema: { type: 'object' } },
    response: {
      contentType: 'application/json',
      schema: { type: 'object', required: ['receipt_id'], properties: { receipt_id: { type: 'string', format: 'uuid' } } },
    },
  },
];
