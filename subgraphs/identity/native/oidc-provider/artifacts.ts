import { type AdapterPayload, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Sql } from '../../../../events/outbox.js';
import { sha256 } from '../../../../runtime/data/crypto.js';
import { openFamily, touchSession } from './authorization.js';
import { koa, ModelAdapter } from './model.js';
import { stateOf } from './state.js';

const iso = (ms: number): string => new Date(ms).toISOString();

interface ArtifactRow {
  payload: AdapterPayload;
  consumed: number | null;
  expired: boolean;
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

/** Without a leeway nothing but `consumed_at is null` decides, because the clocks of two uses may be apart. */
const SPEND = `
update identity.oauth_artifact a set consumed_at = coalesce(a.consumed_at, $3)
where a.model = $1 and a.id_hash = $2
  and (a.consumed_at is null or (${LEEWAY} > interval '0' and a.consumed_at + ${LEEWAY} > $3)) returning 1 as spent`;

/** A spent code or refresh token is known as long as its family lives, so that a late replay is not merely unknown. */
const FIND = `
select a.payload, a.expires_at <= $3 as expired,
  case when a.consumed_at + ${LEEWAY} <= $3 then floor(extract(epoch from a.consumed_at))::float8 end as consumed
from identity.oauth_artifact a where a.model = $1 and a.id_hash = $2 and (a.expires_at > $3 or (a.consumed_at is not null and a.family_id is not null))
  and not exists (select from identity.auth_session s where a.model = 'Session' and s.engine_uid = a.uid and s.ended_at is not null)`;

/** Codes, refresh tokens, sessions, interactions: found by the SHA-256 of their secret, which no row holds. */
export class ArtifactAdapter extends ModelAdapter {
  override async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    if (!(await this.save(this.store.sql, id, payload, expiresIn))) throw ended();
  }

  /** @returns false when the family has ended. */
  protected async save(sql: Sql, id: string, payload: AdapterPayload, expiresIn: number, familyId?: string): Promise<boolean> {
    const { jti: _secret, ...kept } = payload;
    const [now, end] = [iso(Date.now()), iso(Date.now() + expiresIn * 1000)];
    const values = [this.model, sha256(id), payload.uid ?? null, familyId ?? null, JSON.stringify(kept), now, end];
    return (await sql(SAVE, values)).length > 0;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const [row] = await this.store.sql<ArtifactRow>(FIND, [this.model, sha256(id), iso(Date.now())]);
    if (row?.expired) return this.#replayedLate(row.payload);
    return row && { ...row.payload, jti: id, ...(row.consumed !== null && { consumed: row.consumed }) };
  }

  /** The engine answers "expired" before it looks whether a token was spent; to us it is a replay. */
  async #replayedLate({ grantId, clientId }: AdapterPayload): Promise<undefined> {
    if (grantId && clientId === koa()?.oidc.client?.clientId) await this.revokeByGrantId(grantId);
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
    if (spent) return void (stateOf(koa()!).spent = true);
    const found = await this.find(id);
    if (found?.grantId) await this.revokeByGrantId(found.grantId);
    throw new errors.InvalidGrant({ detail: `${this.model} was used before` });
  }

  override async destroy(id: string): Promise<void> {
    await this.store.sql('delete from identity.oauth_artifact where model = $1 and id_hash = $2', [this.model, sha256(id)]);
  }
}

const ended = (): Error => new errors.InvalidGrant({ detail: 'the authorization has ended' });

/** Codes. With its code an authorization begins: a token family of this consent in this sign-in. */
export class CodeAdapter extends ArtifactAdapter {
  override async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const ctx = koa()!;
    await this.store.host.transaction(async tx => {
      await openFamily(tx, ctx, payload);
      if (!(await this.save(tx.sql, id, payload, expiresIn, payload.grantId))) throw ended();
    });
  }
}

/** Refresh tokens. */
export class RefreshTokenAdapter extends ArtifactAdapter {
  /**
   * A family that a replay has ended while this request was spending its token gets no further token; the request is answered all the
   * same, with tokens that are dead. Source: identity 4.2.
   */
  override async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const saved = await this.save(this.store.sql, id, payload, expiresIn, payload.grantId);
    if (!saved && !stateOf(koa()!).spent) throw ended();
    const now = iso(Date.now());
    await this.store.sql('update identity.token_family set last_used_at = $2 where id = $1 and ended_at is null', [payload.grantId, now]);
    const USED = 'update identity.oauth_grant set last_used_at = $2 where id = (select grant_id from identity.token_family where id = $1)';
    await this.store.sql(USED, [payload.grantId, now]);
  }
}

/** Stands for the id of its own interaction at the end of an address. */
const OWN_ID = '{uid}';

/**
 * Interactions. Their id is a cookie, and they note that of the session, which the engine never reads: neither stands in a row, so the
 * address that a person returns to is kept without the id at its end. Source: identity 7, rule 1.
 */
export class InteractionAdapter extends ArtifactAdapter {
  override upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    const { session, returnTo } = payload as AdapterPayload & { session?: { cookie?: string }; returnTo?: string };
    const { cookie: _secret, ...kept } = session ?? {};
    const stored = {
      ...payload,
      ...(session && { session: kept }),
      ...(returnTo?.endsWith(id) && { returnTo: returnTo.slice(0, -id.length) + OWN_ID }),
    };
    return super.upsert(id, stored as AdapterPayload, expiresIn);
  }

  override async find(id: string): Promise<AdapterPayload | undefined> {
    const found = (await super.find(id)) as (AdapterPayload & { returnTo?: string }) | undefined;
    return found?.returnTo?.endsWith(OWN_ID) ? { ...found, returnTo: found.returnTo.slice(0, -OWN_ID.length) + id } : found;
  }
}

/** Browser sessions of the engine; a signed-in one is an AuthSession, too. */
export class SessionAdapter extends ArtifactAdapter {
  override async upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
    await super.upsert(id, payload, expiresIn);
    if (payload.accountId) await touchSession(this.store.sql, koa() as KoaContextWithOIDC, payload, Date.now() + expiresIn * 1000);
  }
}
