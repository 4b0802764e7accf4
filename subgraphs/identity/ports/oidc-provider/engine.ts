import type { IncomingMessage } from 'node:http';
import { errors, Provider, type Client, type Configuration, type JWTStructured, type KoaContextWithOIDC } from 'oidc-provider';
import { ADMIN_SCOPES } from '../../rules/scopes.js';
import { serviceClaims } from './claims.js';
import { engineAdapter, readAuthenticating, type EngineStore } from './adapter.js';
import type { IssuedToken } from './issued.js';
import type { Keyring, SigningKey } from './keyring.js';
import { matchSecret, type Registration } from './registration.js';
import { USER_TOKEN_SECONDS } from '../../resolver/token-family.js';

/** Paths of the protocol endpoints, relative to the service. */
export const PATHS = {
  token: '/v1/oauth/token',
  introspection: '/v1/oauth/introspect',
  revocation: '/v1/oauth/revoke',
  jwks: '/.well-known/jwks.json',
} as const;

/** Grant types that are offered: clients, endpoints and discovery follow from it. */
export const GRANT_TYPES: readonly string[] = ['client_credentials'];

/** A request on its way into the engine. */
export interface EngineRequest extends IncomingMessage {
  /** Path below the issuer's origin. */
  originalUrl: string;
  /** What failures are counted by, see `addressKey`. */
  clientAddress: string;
}

/** What the steps of one request hand on. */
export interface EngineState {
  /** Counted when the authentication fails. */
  failureKey?: Buffer;
  /** The client was read from the database for this request. */
  clientIsFresh?: boolean;
  /** Id of the secret that the client has authenticated with: claim `csi`. */
  secretId?: string;
  issued?: IssuedToken;
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

/** Nothing is dropped silently: a scope that is unknown or not the client's is an error that names it. */
function checkScopes(ctx: KoaContextWithOIDC, { scopes }: Registration): void {
  const asked = String(ctx.oidc.params!.scope).split(' ');
  const wrong = asked.filter(scope => !scopes.includes(scope));
  if (wrong.length) throw new errors.InvalidScope(`the client may not ask for ${wrong.join(' ')}`, wrong.join(' '));
}

/** The engine behind one issuer with the keys of now. Construction takes about 3 ms. Source: identity 8. */
export class EngineBuilder {
  constructor(
    private readonly store: EngineStore,
    private readonly keyring: Keyring,
  ) {}

  build(keys: readonly SigningKey[]): Provider {
    const provider = new Provider(this.store.host.config.issuer, this.#configuration(keys));
    provider.proxy = true;
    const { store } = this;
    (provider.Client as unknown as { prototype: Client }).prototype.compareClientSecret = function (presented) {
      return authenticate(store, this, presented);
    };
    return provider;
  }

  #configuration(keys: readonly SigningKey[]): Configuration {
    return {
      adapter: engineAdapter(this.store),
      jwks: { keys: keys.map(key => ({ ...key.privateJwk, kid: key.kid, alg: 'ES256', use: 'sig' })) },
      routes: { ...PATHS, authorization: '/v1/oauth/authorize' },
      responseTypes: [],
      scopes: [],
      clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      extraClientMetadata: { properties: ['registration'] },
      clientBasedCORS: (_ctx, origin, client) => mayCallFrom(origin, client),
      formats: { customizers: { jwt: (ctx, token, parts) => this.#fillClaims(ctx, token.kind, parts) } },
      ttl: { ClientCredentials: (_ctx, _token, client) => registrationOf(client).ttl, AccessToken: () => USER_TOKEN_SECONDS },
      renderError: (ctx, out) => void (ctx.body = out),
      revokeGrantPolicy: () => true,
      features: this.#features(),
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
    ctx.oidc.params!.scope ??= registration.scopes.join(' ');
    checkScopes(ctx, registration);
    const { kid } = this.keyring.current(new Date(Date.now()));
    return {
      scope: registration.scopes.join(' '),
      audience,
      accessTokenFormat: 'jwt' as const,
      jwt: { sign: { alg: 'ES256' as const, kid } },
    };
  }

  /** Our claims instead of the engine's. Source: identity A2. */
  async #fillClaims(ctx: KoaContextWithOIDC, kind: string, parts: JWTStructured): Promise<void> {
    if (kind !== 'ClientCredentials') throw new Error(`${kind} is not issued by the engine`);
    const { id, serviceSlug } = registrationOf(ctx.oidc.client);
    const { iat: issuedAt, exp: expiresAt, scope } = parts.payload as { iat: number; exp: number; scope?: string };
    const secretId = stateOf(ctx).secretId!;
    const scopes = (scope ?? '').split(' ').filter(Boolean);
    const claims = serviceClaims(this.store.host.config, { clientId: id, scopes, secretId, serviceSlug, issuedAt, expiresAt });
    parts.payload = claims as unknown as JWTStructured['payload'];
    stateOf(ctx).issued = { id: claims.jti, clientId: id, secretId, scopes, issuedAt, expiresAt };
    await this.keyring.noteLifetime(this.keyring.current(new Date(issuedAt * 1000)).kid, expiresAt - issuedAt);
  }
}

/** Discovery that only a code flow has, but that the engine always announces. */
const CODE_FLOW_METADATA = [
  'authorization_endpoint',
  'authorization_response_iss_parameter_supported',
  'claims_parameter_supported',
  'claims_supported',
  'code_challenge_methods_supported',
  'request_uri_parameter_supported',
  'response_modes_supported',
];

/** Discovery without what is not offered. */
export function honestDiscovery(document: Record<string, unknown>): Record<string, unknown> {
  const hidden = GRANT_TYPES.includes('authorization_code') ? [] : CODE_FLOW_METADATA;
  const kept = Object.entries(document).filter(([name]) => !hidden.includes(name));
  return { ...Object.fromEntries(kept), scopes_supported: ADMIN_SCOPES, token_endpoint_auth_signing_alg_values_supported: undefined };
}
