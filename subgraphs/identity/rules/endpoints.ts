/** Paths of the protocol endpoints, relative to the service. */
export const PATHS = {
  authorization: '/v1/oauth/authorize',
  token: '/v1/oauth/token',
  introspection: '/v1/oauth/introspect',
  revocation: '/v1/oauth/revoke',
  jwks: '/.well-known/jwks.json',
} as const;

/** The token endpoint for the exchange grant alone. */
export const EXCHANGE = '/v1/tokens/exchange';

/** Metadata of RFC 8414 and of OpenID Connect. */
export const OAUTH_METADATA = '/.well-known/oauth-authorization-server';
export const OPENID_METADATA = '/.well-known/openid-configuration';

/** People's pages, relative to the service. */
export const PAGES = '/v1/auth';

/** Where an outside identity provider sends its e-mails. */
export const IDP_AUTH_EMAILS = '/v1/webhooks/idp/auth-emails';
