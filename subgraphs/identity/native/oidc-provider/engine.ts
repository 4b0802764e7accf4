import { type Client, type Configuration, errors, type JWTStructured, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import { serviceClaims, type TokenClaims } from '../../ports/claims.js';
import type { Keyring, SigningKey } from '../../ports/keyring.js';
import { CLIENT_ALGORITHMS } from '../../rules/client-keys.js';
import { PAGES, PATHS } from '../../rules/endpoints.js';
import { CODE_SECONDS, INTERACTION_SECONDS, REFRESH_SECONDS, SESSION_SECONDS, USER_TOKEN_SECONDS } from '../../rules/lifetimes.js';
import { ADMIN_SCOPES, PROTOCOL_SCOPES, USER_SCOPES } from '../../rules/scopes.js';
import { accountOf, ID_TOKEN_CLAIMS } from './account.js';
import { engineAdapter, readAuthenticating, rememberClients } from './adapter.js';
import { fetchKeys, noteAssertion } from './assertions.js';
import { grantOf } from './authorization.js';
import { cookieSecret } from './cookies.js';
import { TokenExchange } from './exchange.js';
import type { EngineStore } from './model.js';
import { checkSignInAge, interactions, SIGN_IN_AGE } from './policy.js';
import { allowedNow, matchSecret } from './registration.js';
import { FOREVER, registrationOf, stateOf } from './state.js';
import { userTokenClaims } from './user-token.js';

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

/** The engine behind one issuer with the keys of this moment. Construction takes about 3 ms. Source: identity 8. */
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
