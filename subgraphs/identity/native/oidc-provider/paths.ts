import type { NativePath } from '../../../../runtime/service.js';
import { EXCHANGE, OAUTH_METADATA, OPENID_METADATA, PATHS } from '../../rules/endpoints.js';
import { EXCHANGE_GRANT } from './registration.js';

const FORM = 'application/x-www-form-urlencoded';
const text = { type: 'string' } as const;
const list = { type: 'array', items: text } as const;
const seconds = { type: 'integer', description: 'Epoch seconds.' } as const;
const credentials = {
  client_id: { ...text, description: 'Or HTTP Basic.' },
  client_secret: { ...text, format: 'password', description: 'Or HTTP Basic.' },
} as const;

const object = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  properties,
  ...(required.length && { required }),
});

const tokenForm = object(
  {
    grant_type: { type: 'string', enum: ['client_credentials', 'authorization_code', 'refresh_token'] },
    scope: {
      ...text,
      description:
        "Space-separated; all of a machine client's scopes when not given. With a refresh token: narrower, for this token alone.",
    },
    code: text,
    redirect_uri: { ...text, description: 'As in the authorization request.' },
    code_verifier: text,
    refresh_token: text,
    ...credentials,
  },
  ['grant_type'],
);

const tokenAnswer = object(
  {
    access_token: text,
    token_type: { type: 'string', enum: ['Bearer'] },
    expires_in: { type: 'integer', description: 'Seconds.' },
    scope: text,
    refresh_token: { ...text, description: 'User tokens only; the one that was sent is spent.' },
    id_token: { ...text, description: 'When openid was granted.' },
  },
  ['access_token', 'token_type', 'expires_in'],
);

const exchangeForm = object(
  {
    grant_type: { type: 'string', enum: [EXCHANGE_GRANT] },
    subject_token: { ...text, description: 'A usr_ token.' },
    subject_token_type: { type: 'string', enum: ['urn:ietf:params:oauth:token-type:access_token'] },
    scope: { ...text, description: "Space-separated, within the subject token's; the same when not given." },
    ...credentials,
  },
  ['grant_type', 'subject_token', 'subject_token_type'],
);

const exchangeAnswer = object(
  {
    access_token: text,
    issued_token_type: text,
    token_type: { type: 'string', enum: ['Bearer'] },
    expires_in: { type: 'integer', description: 'Seconds, at most 900.' },
    scope: text,
  },
  ['access_token', 'issued_token_type', 'token_type', 'expires_in', 'scope'],
);

const presented = object({ token: text, token_type_hint: { type: 'string', enum: ['access_token', 'refresh_token'] }, ...credentials }, [
  'token',
]);

const inspection = object(
  {
    active: { type: 'boolean' },
    token_use: { type: 'string', enum: ['service', 'user'] },
    scope: text,
    client_id: text,
    sub: text,
    exp: seconds,
    iat: seconds,
    iss: text,
    aud: text,
    jti: text,
    sid: text,
    auth_time: seconds,
    amr: list,
    token_type: { type: 'string', enum: ['Bearer'] },
  },
  ['active'],
);

const metadata = object(
  { issuer: text, authorization_endpoint: text, token_endpoint: text, jwks_uri: text, grant_types_supported: list, scopes_supported: list },
  ['issuer'],
);
const keys = object({ keys: { type: 'array', items: { type: 'object' } } }, ['keys']);

const json = (schema: object): NativePath['response'] => ({ contentType: 'application/json', schema });
const form = (schema: object): NativePath['requestBody'] => ({ contentType: FORM, schema });

/** The protocol endpoints, for OpenAPI. Their forms and errors are those of RFC 6749, 7009 and 7662. */
export const oauthPaths: readonly NativePath[] = [
  {
    method: 'GET',
    path: PATHS.authorization,
    summary: 'Ask a person for access (code flow with PKCE S256)',
    status: 303,
    public: true,
  },
  {
    method: 'POST',
    path: PATHS.token,
    summary: 'Get an access token',
    status: 200,
    public: true,
    requestBody: form(tokenForm),
    response: json(tokenAnswer),
  },
  {
    method: 'POST',
    path: EXCHANGE,
    summary: "Exchange a user's token for a narrower one (RFC 8693)",
    status: 200,
    public: true,
    requestBody: form(exchangeForm),
    response: json(exchangeAnswer),
  },
  {
    method: 'POST',
    path: PATHS.introspection,
    summary: 'Ask whether a token is active',
    status: 200,
    public: true,
    requestBody: form(presented),
    response: json(inspection),
  },
  { method: 'POST', path: PATHS.revocation, summary: 'End a token', status: 200, public: true, requestBody: form(presented) },
  {
    method: 'GET',
    path: PATHS.jwks,
    summary: 'Keys that sign access tokens',
    status: 200,
    public: true,
    response: { contentType: 'application/jwk-set+json', schema: keys },
  },
  {
    method: 'GET',
    path: OPENID_METADATA,
    summary: 'OpenID Connect metadata',
    status: 200,
    public: true,
    response: json(metadata),
  },
  {
    method: 'GET',
    path: OAUTH_METADATA,
    summary: 'OAuth metadata',
    status: 200,
    public: true,
    response: json(metadata),
  },
];
