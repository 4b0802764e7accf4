import { errors, Provider, type Adapter, type AdapterFactory, type AdapterPayload, type KoaContextWithOIDC } from 'oidc-provider';
import type { Sql } from '../../../../events/outbox.js';
import { sha256 } from '../../../../runtime/crypto.js';
import type { ServiceHost } from '../../../../runtime/host.js';
import { internalRequest } from '../../../../runtime/request.js';
import { PROTOCOL_SCOPES } from '../../rules/scopes.js';
import type { EngineRequest, EngineState } from './engine.js';
import { inspectedToken, isRevoked } from './inspection.js';
import { asClient } from './issued.js';
import { clientMetadata, failureKey, waitSeconds, type Registration, type Registrations } from './registration.js';
import { endFamilies, familyRevocations, publishRevocations } from '../../resolver/token-family.js';

/** A family has no end of its own: its refresh tokens have. Seconds, a hundred years. */
const FOREVER = 3_155_760_000;

export interface EngineStore {
  host: ServiceHost;
  /** On the service's pool, outside any transaction. */
  sql: Sql;
  registrations: Registrations;
  /** Grant types that the engine offers. */
  offered: readonly string[];
}

const iso = (ms: number): string => new Date(ms).toISOString();
const koa = (): KoaContextWithOIDC | undefined => Provider.ctx;

/** Storage for one model of the engine. What a model does not need is an error. */
abstract class ModelAdapter implements Adapter {
  constructor(
    protected readonly store: EngineStore,
    protected readonly model: string,
  ) {}

  protected refuse(what: string): never {
    throw new Error(`${this.model} is not ${what}`);
  }

  async upsert(_id: string, _payload: AdapterPayload, _expiresIn: number): Promise<void> { this.refuse('stored'); } // prettier-ignore
  abstract find(id: string): Promise<AdapterPayload | undefined>;
  async findByUserCode(): Promise<AdapterPayload | undefined> { return this.refuse('found by user code'); } // prettier-ignore
  async findByUid(_uid: string): Promise<AdapterPayload | undefined> { return this.refuse('found by uid'); } // prettier-ignore
  async consume(_id: string): Promise<void> { this.refuse('consumed'); } // prettier-ignore
  async destroy(_id: string): Promise<void> { this.refuse('destroyed'); } // prettier-ignore

  /** Ends the family of an engine grant: on revocation by the app, or on a replay. Once a request, however many models ask for it. */
  async revokeByGrantId(familyId: string): Promise<void> {
    const ctx = koa();
    const state = (ctx?.state ?? {}) as { ended?: Map<string, Promise<void>> };
    state.ended ??= new Map();
    if (!state.ended.has(familyId)) state.ended.set(familyId, this.#end(familyId, ctx));
    await state.ended.get(familyId);
  }

  async #end(familyId: string, ctx: KoaContextWithOIDC | undefined): Promise<void> {
    const reason = ctx?.oidc.route === 'revocation' ? 'token_revoked' : 'replayed';
    const clientId = ctx?.oidc.client?.clientId ?? '';
    await this.store.host.transaction(
      async tx => {
        const ended = await endFamilies(tx, 'id', familyId, reason);
        for (const id of ended) tx.audit(reason === 'replayed' ? 'token.replayed' : 'token_family.revoked', id, { client_id: clientId });
        await publishRevocations(tx, familyRevocations(tx, ended));
      },
      internalRequest(asClient(clientId)),
    );
  }
}

/** Notes whose failures are counted together: a client and an address. */
function throttle({ host }: EngineStore, ctx: KoaContextWithOIDC, clientId: string): Buffer {
  const state = ctx.state as EngineState;
  state.failureKey ??= failureKey(host.config.signingKek!, clientId, (ctx.req as EngineRequest).clientAddress);
  return state.failureKey;
}

/** Reads a client that names itself, and the failures that it or somebody in its name had lately. @throws 429 when there were too many. */
export async function readAuthenticating(store: EngineStore, ctx: KoaContextWithOIDC, clientId: string): Promise<Registration | null> {
  (ctx.state as EngineState).clientIsFresh = true;
  const found = await store.registrations.read(clientId, throttle(store, ctx, clientId));
  const wait = waitSeconds(found, Date.now());
  if (wait !== null) throw tooManyFailures(ctx, wait);
  return found.registration;
}

/** Clients. The one that authenticates may be believed from memory: a secret that does not fit is compared with the database again. */
class ClientAdapter extends ModelAdapter {
  async find(id: string): Promise<AdapterPayload | undefined> {
    const ctx = koa();
    const registration = ctx && !ctx.oidc.client ? await this.#authenticating(ctx, id) : await this.#other(id);
    return registration ? (clientMetadata(registration, this.store.offered) as AdapterPayload) : undefined;
  }

  #authenticating(ctx: KoaContextWithOIDC, id: string): Registration | Promise<Registration | null> {
    return this.store.registrations.recent(throttle(this.store, ctx, id)) ?? readAuthenticating(this.store, ctx, id);
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

interface FamilyRow {
  user_id: string;
  client_id: string;
  scopes: string[];
  created: number;
}

/** An engine grant is a token family: one authorization of one app in one sign-in. */
class FamilyAdapter extends ModelAdapter {
  async find(id: string): Promise<AdapterPayload | undefined> {
    const [row] = await this.store.sql<FamilyRow>(
      'select user_id, client_id, scopes, floor(extract(epoch from created_at))::float8 as created from identity.token_family where id = $1 and ended_at is null',
      [id],
    );
    if (!row) return undefined;
    const isProtocol = (scope: string): boolean => PROTOCOL_SCOPES.includes(scope);
    const [protocol, rest] = [row.scopes.filter(isProtocol), row.scopes.filter(scope => !isProtocol(scope))];
    return {
      kind: 'Grant',
      jti: id,
      iat: row.created,
      exp: row.created + FOREVER,
      accountId: row.user_id,
      clientId: row.client_id,
      resources: { [this.store.host.config.audience]: rest.join(' ') },
      ...(protocol.length > 0 && { openid: { scope: protocol.join(' ') } }),
    };
  }

  override destroy(id: string): Promise<void> {
    return this.revokeByGrantId(id);
  }
}

interface ArtifactRow {
  payload: AdapterPayload;
  consumed: number | null;
}

/** The shared lock on the family makes a save and a revocation exclude each other. Source: identity 7, rule 2. */
const SAVE = `
with family as (select id from identity.token_family where id = $4 and ended_at is null for share)
insert into identity.oauth_artifact (model, id_hash, uid, family_id, payload, created_at, expires_at)
select $1, $2, $3, $4, $5, $6, $7 where $4::text is null or exists (select from family)
on conflict (model, id_hash) do update set uid = excluded.uid, payload = excluded.payload, expires_at = excluded.expires_at returning 1 as saved`;

/** Seconds after its use in which a refresh token may be used again. */
const LEEWAY = `coalesce((select c.refresh_reuse_leeway_seconds from identity.token_family f join identity.oauth_client c on c.id = f.client_id
  where f.id = a.family_id and a.model = 'RefreshToken'), 0) * interval '1 second'`;

const SPEND = `
update identity.oauth_artifact a set consumed_at = coalesce(a.consumed_at, $3)
where a.model = $1 and a.id_hash = $2 and (a.consumed_at is null or a.consumed_at + ${LEEWAY} > $3) returning 1 as spent`;

const FIND = `
select a.payload, case when a.consumed_at + ${LEEWAY} <= $3 then floor(extract(epoch from a.consumed_at))::float8 end as consumed
from identity.oauth_artifact a where a.model = $1 and a.id_hash = $2 and a.expires_at > $3`;

/** Codes, refresh tokens, sessions, interactions: found by the SHA-256 of their secret, which no row holds. */
class ArtifactAdapter extends ModelAdapter {
  override async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const { jti: _secret, ...kept } = payload;
    const now = Date.now();
    const values = [
      this.model,
      sha256(id),
      payload.uid ?? null,
      payload.grantId ?? null,
      JSON.stringify(kept),
      iso(now),
      iso(now + expiresIn * 1000),
    ];
    const [saved] = await this.store.sql(SAVE, values);
    if (!saved) throw new errors.InvalidGrant({ detail: 'the authorization has ended' });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const [row] = await this.store.sql<ArtifactRow>(FIND, [this.model, sha256(id), iso(Date.now())]);
    return row && { ...row.payload, jti: id, ...(row.consumed !== null && { consumed: row.consumed }) };
  }

  /** Without its secret id: the engine then only reads it. */
  override async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const text = 'select payload from identity.oauth_artifact where model = $1 and uid = $2 and expires_at > $3';
    const [row] = await this.store.sql<ArtifactRow>(text, [this.model, uid, iso(Date.now())]);
    return row?.payload;
  }

  /** One conditional update spends it; whoever comes second ends the family. */
  override async consume(id: string): Promise<void> {
    const [spent] = await this.store.sql(SPEND, [this.model, sha256(id), iso(Date.now())]);
    if (spent) return;
    const found = await this.find(id);
    if (found?.grantId) await this.revokeByGrantId(found.grantId);
    throw new errors.InvalidGrant({ detail: `${this.model} was used before` });
  }

  override async destroy(id: string): Promise<void> {
    await this.store.sql('delete from identity.oauth_artifact where model = $1 and id_hash = $2', [this.model, sha256(id)]);
  }
}

/** The engine's storage: everything in PostgreSQL, so any process can serve any step. */
export function engineAdapter(store: EngineStore): AdapterFactory {
  const kinds: Record<string, new (store: EngineStore, model: string) => Adapter> = {
    Client: ClientAdapter,
    Grant: FamilyAdapter,
    AccessToken: AccessTokenAdapter,
    ClientCredentials: AccessTokenAdapter,
  };
  return model => new (kinds[model] ?? ArtifactAdapter)(store, model);
}
