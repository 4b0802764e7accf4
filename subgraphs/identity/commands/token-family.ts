import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../../../runtime/request/context.js';
import { outsideEngine, systemTime } from '../ports/clock.js';
import { BELIEVED_MS, USER_TOKEN_SECONDS } from '../rules/lifetimes.js';

export type RevocationKind = 'token' | 'family' | 'session' | 'secret' | 'client' | 'user';

/** What is to die before its time. */
export interface NewRevocation {
  kind: RevocationKind;
  value: string;
  /** Epoch seconds; only for `user`: tokens issued up to then are dead. */
  notBefore?: number;
  /** Default: at once. */
  effectiveAt?: Date;
  /** When the last token that it affects has expired. */
  expiresAt: Date;
}

interface Row {
  seq: number;
  kind: RevocationKind;
  value: string;
  not_before: number | null;
  effective_at: string;
  expires_at: string;
}

/** The counter's row stays locked until the commit, so `seq` has no gaps and follows the order of the commits. */
const INSERT = `
with counter as (update identity.token_revocation_counter set seq = seq + $1 returning seq - $1 as base)
insert into identity.token_revocation (seq, kind, value, not_before, effective_at, expires_at)
select counter.base + r.ordinal, r.kind, r.value, r.not_before, r.effective_at, r.expires_at
from counter, rows from (jsonb_to_recordset($2::jsonb) as (kind text, value text, not_before bigint, effective_at timestamptz, expires_at timestamptz))
  with ordinality as r(kind, value, not_before, effective_at, expires_at, ordinal)
returning seq::float8 as seq, kind, value, not_before::float8 as not_before`;

/**
 * "At once" for everybody who compares with the system's clock: a manual clock that is ahead must not put off a revocation.
 * Source: identity A3.2.
 */
const atOnce = (ctx: Context): Date => new Date(Math.min(ctx.now().getTime(), systemTime()));

/** Other processes may take a credential that ends now for good until what they have read of the client is too old to be believed. */
const endsCredential = ({ kind, effectiveAt }: NewRevocation): boolean =>
  (kind === 'secret' || kind === 'client') && effectiveAt === undefined;

/** Of more than these the last alone is hinted: whoever hears it misses the others and reads them. 20,000 hints keep all processes busy for 4 s. */
const MOST_HINTED = 100;

/**
 * Adds rows to the revocation feed in this transaction and hints all processes after its commit. What ends a client's credential at once is
 * answered when no process takes that any more. Call it last: it locks the counter.
 * Source: identity A4.
 */
export async function publishRevocations(ctx: Context, revocations: readonly NewRevocation[]): Promise<void> {
  if (revocations.length === 0) return;
  const wanted = revocations.map(one => ({
    kind: one.kind,
    value: one.value,
    not_before: one.notBefore ?? null,
    effective_at: (one.effectiveAt ?? atOnce(ctx)).toISOString(),
    expires_at: one.expiresAt.toISOString(),
  }));
  const rows = await ctx.sql<Row>(INSERT, [wanted.length, JSON.stringify(wanted)]);
  const published = rows.map((row, index) => ({
    ...row,
    effective_at: wanted[index]!.effective_at,
    expires_at: wanted[index]!.expires_at,
  }));
  const hinted = published.length > MOST_HINTED ? published.slice(-1) : published;
  ctx.afterCommit(() => outsideEngine(() => hinted.forEach(row => ctx.host.transport.hint('auth.revocations', row.kind, row))));
  if (revocations.some(endsCredential)) ctx.afterCommit(() => delay(BELIEVED_MS));
}

export type EndReason =
  | 'replayed'
  | 'token_revoked'
  | 'grant_revoked'
  | 'signed_out'
  | 'client_removed'
  | 'user_blocked'
  | 'phi_agreement_ended'
  | 'unused'
  | 'user_erased';

const untilDead = (ctx: Context): Date => new Date(ctx.now().getTime() + USER_TOKEN_SECONDS * 1000);

/** The column by which families end. */
export type FamilyKey = 'id' | 'grant_id' | 'user_id' | 'client_id' | 'session_id';

/**
 * Ends live token families: their refresh tokens and codes are gone with this commit, their access tokens by the feed. The exclusive
 * row lock waits for a token that is being saved. Source: identity 7, rule 2.
 * @returns ids of the families that it ended; none when they had ended before.
 */
export async function endFamilies(ctx: Context, key: FamilyKey, value: string, reason: EndReason): Promise<string[]> {
  const rows = await ctx.sql<{ id: string }>(
    `update identity.token_family set ended_at = $2, end_reason = $3
     where id in (select id from identity.token_family where ${key} = $1 and ended_at is null order by id for update) returning id`,
    [value, ctx.now().toISOString(), reason],
  );
  const ids = rows.map(row => row.id);
  if (ids.length) await ctx.sql('delete from identity.oauth_artifact where family_id = any($1)', [ids]);
  return ids;
}

/** Ends the live families of a consent that hold a scope which it lost. @returns their ids. */
export async function endFamiliesHolding(ctx: Context, grantId: string, scope: string): Promise<string[]> {
  const rows = await ctx.sql<{ id: string }>(
    'select id from identity.token_family where grant_id = $1 and ended_at is null and $2 = any(scopes) order by id',
    [grantId, scope],
  );
  const ended: string[] = [];
  for (const { id } of rows) ended.push(...(await endFamilies(ctx, 'id', id, 'grant_revoked')));
  return ended;
}

/** Ends the families that the operator's own apps opened in a sign-in; those of other apps belong to connected apps. @returns their ids. */
export async function endFirstPartyFamilies(ctx: Context, sessionId: string): Promise<string[]> {
  const rows = await ctx.sql<{ id: string }>(
    `select f.id from identity.token_family f join identity.oauth_client c on c.id = f.client_id
     where f.session_id = $1 and f.ended_at is null and c.first_party order by f.id`,
    [sessionId],
  );
  const ended: string[] = [];
  for (const { id } of rows) ended.push(...(await endFamilies(ctx, 'id', id, 'signed_out')));
  return ended;
}

/** The feed's entries of families that have ended now. */
export const familyRevocations = (ctx: Context, ids: readonly string[]): NewRevocation[] =>
  ids.map(id => ({ kind: 'family', value: id, expiresAt: untilDead(ctx) }));

/** Access tokens of a user that were issued up to now. */
export const userRevocation = (ctx: Context, userId: string): NewRevocation => ({
  kind: 'user',
  value: userId,
  notBefore: Math.floor(ctx.now().getTime() / 1000),
  expiresAt: untilDead(ctx),
});
