import { type Adapter, type AdapterFactory, type AdapterPayload, errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';
import { internalRequest } from '../../../../runtime/request/request.js';
import { publishRevocations } from '../../commands/token-family.js';
import { inspectedToken, isRevoked } from '../../ports/inspection.js';
import { PROTOCOL_SCOPES } from '../../rules/scopes.js';
import { ArtifactAdapter, CodeAdapter, InteractionAdapter, RefreshTokenAdapter, SessionAdapter } from './artifacts.js';
import { ReplayAdapter } from './assertions.js';
import { asClient } from './issued.js';
import { type EngineStore, koa, ModelAdapter } from './model.js';
import { Attempt, clientMetadata, type Registration, waitSeconds } from './registration.js';
import { type EngineRequest, type EngineState, FOREVER } from './state.js';

/** Notes whose failures are counted together: a client and an address. */
function throttle({ host }: EngineStore, ctx: KoaContextWithOIDC, clientId: string): Attempt {
  const state = ctx.state as EngineState;
  if (state.attempt?.clientId !== clientId)
    state.attempt = new Attempt(host.config.signingKek!, clientId, (ctx.req as EngineRequest).clientAddress);
  return state.attempt;
}

/** Reads a client that names itself, and the failures that it or somebody in its name had lately. @throws 429 when there were too many. */
export async function readAuthenticating(store: EngineStore, ctx: KoaContextWithOIDC, clientId: string): Promise<Registration | null> {
  (ctx.state as EngineState).clientIsFresh = true;
  const found = await store.registrations.read(clientId, throttle(store, ctx, clientId));
  const wait = waitSeconds(found, Date.now());
  if (wait !== null) throw tooManyFailures(ctx, wait);
  return found.registration;
}

/** Routes of the engine where a client is named and does not authenticate. */
const PAGE_ROUTES: ReadonlySet<string> = new Set(['authorization', 'resume']);

const isAuthenticating = (ctx: KoaContextWithOIDC | undefined): ctx is KoaContextWithOIDC =>
  ctx !== undefined && !ctx.oidc.client && !PAGE_ROUTES.has(ctx.oidc.route);

const recentOf = (store: EngineStore, ctx: KoaContextWithOIDC, id: string): Registration | null =>
  store.registrations.recent(throttle(store, ctx, id));

/** The engine's client is made, or found by a hash over all of it, once for each time that its registration is read: 25 µs of a token's 350. */
export function rememberClients({ Client }: Provider, store: EngineStore): void {
  const clients = new WeakMap<Registration, InstanceType<typeof Client>>();
  const find = Client.find.bind(Client);
  Client.find = async id => {
    const ctx = koa();
    const recent = isAuthenticating(ctx) ? recentOf(store, ctx, id) : null;
    const known = recent && clients.get(recent);
    if (known) return known;
    const client = await find(id);
    const { registration } = (ctx?.state ?? {}) as EngineState;
    if (client && registration) clients.set(registration, client);
    return client;
  };
}

/** Clients. The one that authenticates may be believed from memory: a secret that does not fit is compared with the database again. */
class ClientAdapter extends ModelAdapter {
  async find(id: string): Promise<AdapterPayload | undefined> {
    const ctx = koa();
    const registration = isAuthenticating(ctx) ? await this.#authenticating(ctx, id) : await this.#other(id);
    if (ctx) (ctx.state as EngineState).registration = registration;
    return registration ? (clientMetadata(registration, this.store.offered) as AdapterPayload) : undefined;
  }

  #authenticating(ctx: KoaContextWithOIDC, id: string): Registration | Promise<Registration | null> {
    return recentOf(this.store, ctx, id) ?? readAuthenticating(this.store, ctx, id);
  }

  async #other(id: string): Promise<Registration | null> {
    return (await this.store.registrations.read(id, null)).registration;
  }
}

function tooManyFailures(ctx: KoaContextWithOIDC, seconds: number): Error {
  ctx.set('Retry-After', String(seconds));
  const error = new errors.CustomOIDCProviderError('temporarily_unavailable', 'too many failed client authentications, try again later');
  return Object.assign(error, { status: 429, statusCode: 429 });
}

/** Access tokens are JWTs, so there is nothing to find but the token that this request presents, unless it was revoked. */
class AccessTokenAdapter extends ModelAdapter {
  async find(id: string): Promise<AdapterPayload | undefined> {
    const ctx = koa();
    const claims = ctx && inspectedToken(ctx.req);
    const use = this.model === 'ClientCredentials' ? 'service' : 'user';
    if (!claims || claims.jti !== id || claims.token_use !== use) return undefined;
    if (await isRevoked(this.store.sql, claims, new Date(Date.now()))) return undefined;
    const { jti, iat, exp, client_id: clientId, scope, sub, gid, act } = claims;
    const aud = this.store.host.config.audience;
    const user = use === 'user' ? { accountId: sub, ...(!act && { grantId: gid }) } : {};
    return { kind: this.model, jti, iat, exp, clientId, scope, aud, ...user };
  }

  /** A token of a family dies with the family, which the engine ends right after this. */
  override async destroy(id: string): Promise<void> {
    const ctx = koa();
    const claims = ctx && inspectedToken(ctx.req);
    if (!claims || claims.jti !== id || (claims.gid && !claims.act)) return;
    await this.store.host.transaction(
      async tx => {
        tx.audit('token.revoked', id, { client_id: claims.client_id });
        await publishRevocations(tx, [{ kind: 'token', value: id, expiresAt: new Date(claims.exp * 1000) }]);
      },
      internalRequest(asClient(claims.client_id)),
    );
  }
}

/** What was consented to for this family and is still consented to. */
const FAMILY = `
select f.user_id, f.client_id, floor(extract(epoch from f.created_at))::float8 as created,
  array(select scope from unnest(f.scopes) as scope where scope = any(g.scopes) or scope = any($2::text[])) as scopes
from identity.token_family f join identity.oauth_grant g on g.id = f.grant_id where f.id = $1 and f.ended_at is null`;

interface FamilyRow {
  user_id: string;
  client_id: string;
  scopes: string[];
  created: number;
}

/** An engine grant is a token family: one authorization of one app in one sign-in. */
class FamilyAdapter extends ModelAdapter {
  async find(id: string): Promise<AdapterPayload | undefined> {
    const [row] = await this.store.sql<FamilyRow>(FAMILY, [id, PROTOCOL_SCOPES]);
    if (!row) return undefined;
    const protocol = row.scopes.filter(scope => PROTOCOL_SCOPES.includes(scope));
    return {
      kind: 'Grant',
      jti: id,
      iat: row.created,
      exp: row.created + FOREVER,
      accountId: row.user_id,
      clientId: row.client_id,
      resources: { [this.store.host.config.audience]: row.scopes.join(' ') },
      ...(protocol.length > 0 && { openid: { scope: protocol.join(' ') } }),
    };
  }

  override destroy(id: string): Promise<void> {
    return this.revokeByGrantId(id);
  }
}

/** The engine's storage: everything in PostgreSQL, so any process can serve any step. */
export function engineAdapter(store: EngineStore): AdapterFactory {
  const kinds: Record<string, new (store: EngineStore, model: string) => Adapter> = {
    Client: ClientAdapter,
    AuthorizationCode: CodeAdapter,
    RefreshToken: RefreshTokenAdapter,
    Session: SessionAdapter,
    Interaction: InteractionAdapter,
    Grant: FamilyAdapter,
    AccessToken: AccessTokenAdapter,
    ClientCredentials: AccessTokenAdapter,
    ReplayDetection: ReplayAdapter,
  };
  return model => new (kinds[model] ?? ArtifactAdapter)(store, model);
}
