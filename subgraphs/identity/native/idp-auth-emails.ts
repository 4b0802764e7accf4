import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { NativePath } from '../../../runtime/service.js';
import { plugin } from '../../../runtime/http/plugin.js';
import { receiveIdpAuthEmail } from '../commands/idp-auth-email.js';
import { AUTH_EMAIL_SOURCES, readSigned, type SignedBody } from '../ports/auth-email-source.js';
import { atEngineTime } from '../ports/clock.js';
import { AUTH_EMAIL_TEMPLATES } from '../rules/auth-email.js';
import { IDP_AUTH_EMAILS } from '../rules/endpoints.js';

const LIMIT_BYTES = 64 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(;|$)/i;
const ID = /^[\x21-\x7e]{1,200}$/;

const header = ({ headers }: FastifyRequest, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};

function signedBody(request: FastifyRequest): SignedBody {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return {
    raw: (request.body as Buffer | null) ?? Buffer.alloc(0),
    headers: Object.fromEntries(names.map(name => [name, header(request, name)])),
  };
}

const text = { type: 'string' } as const;

const authEmail = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: Object.keys(AUTH_EMAIL_TEMPLATES) },
    user: { type: 'object', properties: { id: text, email: { ...text, format: 'email' } }, required: ['id', 'email'] },
    token: { ...text, description: "The provider's code." },
    token_hash: { ...text, description: "The token of the provider's link." },
    redirect_to: { ...text, format: 'uri', description: 'At the origin of a registered app.' },
    expires_in: { type: 'integer', minimum: 60, maximum: 86_400, description: 'Seconds.' },
    locale: text,
  },
  required: ['type', 'user'],
};

const taken = { type: 'object', properties: { challenge_id: { type: ['string', 'null'], format: 'uuid' } }, required: ['challenge_id'] };

export const idpAuthEmailPaths: readonly NativePath[] = [
  {
    method: 'POST',
    path: IDP_AUTH_EMAILS,
    summary: 'E-mails of an outside identity provider, signed as Standard Webhooks',
    status: 202,
    public: true,
    requestBody: { contentType: 'application/json', schema: authEmail },
    response: { contentType: 'application/json', schema: taken },
  },
];

/** E-mails of an outside identity provider, proven by their signature over the raw body. Source: identity 4.8. */
export async function mountIdpAuthEmails(app: FastifyInstance, host: ServiceHost): Promise<void> {
  const { config } = host;
  const source = AUTH_EMAIL_SOURCES[config.setting('IDP_AUTH_EMAIL_SOURCE') ?? 'neutral'];
  if (!source) throw new Error(`IDP_AUTH_EMAIL_SOURCE must be one of ${Object.keys(AUTH_EMAIL_SOURCES).join(', ')}`);
  await app.register(
    plugin('idp-auth-emails', async scope => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: LIMIT_BYTES }, (_request, body, done) => done(null, body));
      scope.post(`/identity${IDP_AUTH_EMAILS}`, async (request, reply) => {
        const manual = config.manualClock ? await host.read(async ctx => ctx.now()) : null;
        const email = atEngineTime(manual, () => readSigned(source, config.setting('IDP_WEBHOOK_SECRET'), signedBody(request)));
        if (!JSON_TYPE.test(header(request, 'content-type'))) fail('unsupported_media_type', 'Only JSON is accepted here');
        const webhookId = header(request, 'webhook-id');
        if (!ID.test(webhookId)) fail('invalid_request', 'The webhook-id is malformed');
        const id = await host.transaction(tx => receiveIdpAuthEmail(tx, webhookId, email));
        return reply.status(202).send({ challenge_id: id });
      });
    }),
  );
}
