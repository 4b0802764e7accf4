import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errors, Provider, type Client, type Configuration, type JWTStructured, type KoaContextWithOIDC } from 'oidc-provider';
import { ADMIN_SCOPES, PROTOCOL_SCOPES, USER_SCOPES } from '../../rules/scopes.js';
import { accountOf, ID_TOKEN_CLAIMS } from './account.js';
import { grantOf, SESSION_SECONDS, type Authorization } from './authorization.js';
import { CLIENT_ALGORITHMS } from '../../rules/client-keys.js';
import { fetchKeys, noteAssertion } from './assertions.js';
import { serviceClaims, type TokenClaims } from '../../ports/claims.js';
import { engineAdapter, readAuthenticating, rememberClients, type EngineStore } from './adapter.js';
import { TokenExchange } from './exchange.js';
import type { IssuedToken } from './issued.js';
import type { Keyring, SigningKey } from '../../ports/keyring.js';
import { checkSignInAge, interactions, SIGN_IN_AGE } from './policy.js';
import { allowedNow, EXCHANGE_GRANT, matchSecret, type Attempt, type Registration } from './registration.js';
import { userTokenClaims } from './user-token.js';
import { USER_TOKEN_SECONDS } from '../../commands/token-family.js';

/** Paths of the protocol endpoints, relative to the service. */
export const PATHS = {
  authorization: '/v1/oauth/authorize',
  token: '/v1/oauth/token',
  introspection: '/v1/oauth/introspect',
  revocation: '/v1/oauth/revoke',
  jwks: '/.well-known/jwks.json',
} as const;

/** Grant types that are offered: clients, endpoints and discovery follow from it. */
export const GRANT_TYPES: readonly string[] = ['client_credentials', 'authorization_code', 'refresh_token', EXCHANGE_GRANT];

/** The token endpoint for the exchange grant alone. */
export const EXCHANGE = '/v1/tokens/exchange';

/** People's pages, relative to the service. */
export const PAGES = '/v1/auth';

const CODE_SECONDS = 60;
const REFRESH_SECONDS = 90 * 86_400;
const INTERACTION_SECONDS = 3600;
/** A family has no end of its own. Seconds, a hundred years. */
export const FOREVER = 3_155_760_000;

/** A request on its way into the engine. */
export interface EngineRequest extends IncomingMessage {
  /** Path below the issuer's origin. */
  originalUrl: string;
  /** What failures are counted by, see `addressKey`. */
  clientAddress: string;
  /** Where the request comes from, when the operator's edge says so. */
  countryCode: string | null;
}

/** What the steps of one request hand on. */
export interface EngineState {
  /** Counted when the authentication fails. */
  attempt?: Attempt;
  /** Of the client that was found last. */
  registration?: Registration | null;
  /** The client was read from the database for this request. */
  clientIsFresh?: boolean;
  /** Id of the secret that the client has authenticated with: claim `csi`. */
  secretId?: string;
  issued?: IssuedToken;
  /** How an authorization request stands to the user's consent. */
  authorization?: Authorization;
  /** This request has spent its code or refresh token. */
  spent?: boolean;
}

export const stateOf = (ctx: KoaContextWithOIDC): EngineState => ctx.state as EngineState;
export const registrationOf = (client: Client | undefined): Registration =>
  (client as Client & { registration: Registration }).registration;

const INTROSPECTS_ALL = 'admin:identity';

/** A client sees its own tokens; administrators and internal clients see all. Source: identity 4.3. */
function mayIntrospect(client: Client, tokenOwner: string | undefined): boolean {
  const { serviceSlug, scopes } = registrationOf(client);
  return client.clientId === tokenOwner || serviceSlug !== null || scopes.includes(INTROSPECTS_ALL);
}

/** Origins from which a browser app may call: those that it is sent back to. */
const mayCallFrom = (origin: string, client: Client): boolean =>
  registrationOf(client).redirectUris.some(uri => URL.parse(uri)?.origin === origin);

/** Notes the secret that fits. One that does not is compared again with what the database knows now, because a new secret is valid at once. */
async function authenticate(store: EngineStore, client: Client, presented: string): Promise<boolean> {
  const ctx = Provider.ctx!;
  const state = stateOf(ctx);
  const known = matchSecret(registrationOf(client), presented, Date.now());
  const fresh = known || state.clientIsFresh ? null : await readAuthenticating(store, ctx, client.clientId);
  const secretId = known ?? (fresh && matchSecret(fresh, presented, Date.now()));
  if (secretId) state.secretId = secretId;
  return secretId !== null;
}

/** Nothing is dropped silently: a scope that is unknown or not the client's now is an error that names it. */
function checkScopes(ctx: KoaContextWithOIDC, allowed: readonly string[]): void {
  const { scope } = ctx.oidc.params!;
  if (ctx.oidc.route === 'authorization' && !scope) throw new errors.InvalidScope('scope is missing', '');
  const asked = String(scope ?? '')
    .split(' ')
    .filter(Boolean);
  const wrong = asked.filter(one => !allowed.includes(one));
  if (wrong.length) throw new errors.InvalidScope(`the client may not ask for ${wrong.join(' ')}`, wrong.join(' '));
}

/** Signs cookies and forms; made of the key that every process has. */
export const cookieSecret = ({ host }: EngineStore): string =>
  createHmac('sha256', host.config.signingKek!).update('cookies').digest('base64');

/** The engine behind one issuer with the keys of now. Construction takes about 3 ms. Source: identity 8. */
export class EngineBuilder {
  constructor(
    private readonly store: EngineStore,
    private readonly keyring: Keyring,
  ) {}

  build(keys: readonly SigningKey[]): Provider {
    const provider = new Provider(this.store.host.config.issuer, this.#configuration(keys));
    provider.proxy = true;
    new TokenExchange(this.store, this.keyring).register(provider);
    const { store } = this;
    rememberClients(provider, store);
    (provider.Client as unknown as { prototype: Client }).prototype.compareClientSecret = function (presented) {
      return authenticate(store, this, presented);
    };
    return provider;
  }

  #configuration(keys: readonly SigningKey[]): Configuration {
    return {
      adapter: engineAdapter(this.store),
      jwks: { keys: keys.map(key => ({ ...key.privateJwk, kid: key.kid, alg: 'ES256', use: 'sig' })) },
      routes: { ...PATHS },
      responseTypes: ['code'],
      scopes: [...PROTOCOL_SCOPES],
      claims: { openid: [...ID_TOKEN_CLAIMS] },
      clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
      enabledJWA: { clientAuthSigningAlgValues: [...CLIENT_ALGORITHMS] },
      assertJwtClientAuthClaimsAndHeader: noteAssertion,
      fetch: url => fetchKeys(this.store, String(url)),
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      extraClientMetadata: { properties: ['registration'] },
      clientBasedCORS: (_ctx, origin, client) => mayCallFrom(origin, client),
      formats: { customizers: { jwt: (ctx, token, parts) => this.#fillClaims(ctx, token.kind, parts) } },
      ttl: this.#lifetimes(),
      allowOmittingSingleRegisteredRedirectUri: false,
      renderError: (ctx, out) => void (ctx.body = out),
      revokeGrantPolicy: () => true,
      features: this.#features(),
      ...this.#people(),
    };
  }

  /** Seconds. Source: identity A2. */
  #lifetimes(): Configuration['ttl'] {
    return {
      ClientCredentials: (_ctx, _token, client) => registrationOf(client).ttl,
      AccessToken: USER_TOKEN_SECONDS,
      IdToken: USER_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      RefreshToken: REFRESH_SECONDS,
      Interaction: INTERACTION_SECONDS,
      Session: SESSION_SECONDS,
      Grant: FOREVER,
    };
  }

  /** The code flow and its pages. Every app proves possession of its code; every family is one authorization. */
  #people(): Configuration {
    const { issuer } = this.store.host.config;
    const path = new URL(issuer).pathname;
    return {
      pkce: { required: () => true },
      cookies: {
        keys: [cookieSecret(this.store)],
        long: { signed: true, httpOnly: true, sameSite: 'lax', path },
        short: { signed: true, httpOnly: true, sameSite: 'lax' },
      },
      interactions: { policy: interactions(), url: (_ctx, interaction) => `${issuer}${PAGES}/interactions/${interaction.uid}` },
      extraParams: { [SIGN_IN_AGE]: checkSignInAge },
      findAccount: (_ctx, id) => accountOf(this.store, id),
      loadExistingGrant: ctx => grantOf(this.store, ctx),
      issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
      rotateRefreshToken: true,
      expiresWithSession: async () => false,
    };
  }

  #features(): Configuration['features'] {
    const { audience } = this.store.host.config;
    const off = { enabled: false };
    return {
      devInteractions: off,
      userinfo: off,
      rpInitiatedLogout: off,
      pushedAuthorizationRequests: off,
      dPoP: off,
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => mayIntrospect(client, token.clientId) },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource, client) => this.#resourceServer(ctx, resource, client),
      },
    };
  }

  /** The one audience. A client that names no scope asks for all of its own. */
  #resourceServer(ctx: KoaContextWithOIDC, resource: string, client: Client) {
    const { audience } = this.store.host.config;
    if (resource !== audience) throw new errors.InvalidTarget(`the only resource is ${audience}`);
    const registration = registrationOf(client);
    if (ctx.oidc.params!.grant_type === 'client_credentials') ctx.oidc.params!.scope ??= registration.scopes.join(' ');
    const allowed = allowedNow(registration, new Date(Date.now()));
    checkScopes(ctx, allowed);
    const { kid } = this.keyring.current(new Date(Date.now()));
    return {
      scope: allowed.join(' '),
      audience,
      accessTokenFormat: 'jwt' as const,
      jwt: { sign: { alg: 'ES256' as const, kid } },
    };
  }

  /** Our claims instead of the engine's. Source: identity A2. */
  async #fillClaims(ctx: KoaContextWithOIDC, kind: string, parts: JWTStructured): Promise<void> {
    const claims = kind === 'ClientCredentials' ? this.#serviceClaims(ctx, parts) : await userTokenClaims(this.store, ctx, parts);
    parts.payload = claims as unknown as JWTStructured['payload'];
    await this.keyring.noteLifetime(this.keyring.current(new Date(claims.iat * 1000)).kid, claims.exp - claims.iat);
  }

  #serviceClaims(ctx: KoaContextWithOIDC, parts: JWTStructured): TokenClaims {
    const { id, serviceSlug } = registrationOf(ctx.oidc.client);
    const { iat: issuedAt, exp: expiresAt, scope } = parts.payload as { iat: number; exp: number; scope?: string };
    const secretId = stateOf(ctx).secretId!;
    const scopes = (scope ?? '').split(' ').filter(Boolean);
    const claims = serviceClaims(this.store.host.config, { clientId: id, scopes, secretId, serviceSlug, issuedAt, expiresAt });
    stateOf(ctx).issued = { id: claims.jti, clientId: id, secretId, scopes, issuedAt, expiresAt };
    return claims;
  }
}

/** Discovery without what is not offered. */
export function honestDiscovery(document: Record<string, unknown>): Record<string, unknown> {
  const scopes_supported = [...PROTOCOL_SCOPES, ...Object.keys(USER_SCOPES), ...ADMIN_SCOPES];
  return {
    ...document,
    scopes_supported,
    response_modes_supported: ['query'],
  };
}
