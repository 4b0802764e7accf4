import { prepared } from '../../events/prepared.js';
import type { Context } from '../request/context.js';
import type { Identity } from './idempotency.js';

/** Time that a request has for its call, seconds; then another one with the same key goes on with its intent. Source: conventions 8. */
const LEASE_SECONDS = 60;

const WHERE_KEY = 'caller = $1 and field = $2 and path = $3 and key = $4';
/** By the database's clock, which all processes share. */
const NEW_LEASE = `clock_timestamp() + interval '${LEASE_SECONDS} seconds'`;

export interface LeasedKey {
  hash: Buffer;
  intentId: string;
  status: number | null;
  /** Sealed; null while there is no outcome. */
  answer: Buffer | null;
  isLeased: boolean;
}

export async function findLeased(ctx: Context, identity: Identity): Promise<LeasedKey | undefined> {
  const text = `select hash, intent_id as "intentId", status, answer, coalesce(leased_until > clock_timestamp(), false) as "isLeased"
    from ${ctx.schema}.idempotency_key where ${WHERE_KEY} and created_at >= now() - interval '24 hours'`;
  return (await ctx.sql<LeasedKey>(prepared(text), identity))[0];
}

/** Claims a key for an intent. The answer, until when, tells one claim from the next. */
export async function leaseKey(ctx: Context, identity: Identity, hash: Buffer, intentId: string): Promise<string> {
  const text = `insert into ${ctx.schema}.idempotency_key (caller, field, path, key, hash, intent_id, leased_until, created_at)
    values ($1, $2, $3, $4, $5, $6, ${NEW_LEASE}, now())
    on conflict (caller, field, path, key) do update set hash = excluded.hash, status = null, entity_type = null, entity_id = null,
      answer = null, intent_id = excluded.intent_id, leased_until = excluded.leased_until, created_at = excluded.created_at
    returning leased_until::text as until`;
  return (await ctx.sql<{ until: string }>(prepared(text), [...identity, hash, intentId]))[0]!.until;
}

/** Takes a key over whose lease has run out. */
export async function takeOver(ctx: Context, identity: Identity): Promise<string> {
  const text = `update ${ctx.schema}.idempotency_key set leased_until = ${NEW_LEASE} where ${WHERE_KEY} returning leased_until::text as until`;
  return (await ctx.sql<{ until: string }>(prepared(text), identity))[0]!.until;
}

type Held = Pick<LeasedKey, 'status' | 'answer'> & { isOurs: boolean };

/** The key, locked until the transaction ends, and whether the claim is still the one that lasts until `until`. */
export async function lockLeased(ctx: Context, identity: Identity, until: string): Promise<Held | undefined> {
  const text = `select status, answer, coalesce(leased_until = $5::timestamptz, false) as "isOurs" from ${ctx.schema}.idempotency_key
    where ${WHERE_KEY} for update`;
  return (await ctx.sql<Held>(prepared(text), [...identity, until]))[0];
}

/** Stores the outcome and ends the lease. */
export const storeOutcome = (ctx: Context, identity: Identity, answer: Buffer): Promise<unknown> =>
  ctx.sql(prepared(`update ${ctx.schema}.idempotency_key set leased_until = null, status = $5, answer = $6 where ${WHERE_KEY}`), [
    ...identity,
    ctx.request.status,
    answer,
  ]);

export const giveUpKey = (ctx: Context, identity: Identity): Promise<unknown> =>
  ctx.sql(prepared(`delete from ${ctx.schema}.idempotency_key where ${WHERE_KEY}`), identity);
