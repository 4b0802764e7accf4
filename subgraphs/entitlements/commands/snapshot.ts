import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { Entitlement, UserEntitlements } from '../entities/entitlement.js';
import { EntitlementSnapshot } from '../entities/snapshot.js';
import { Facts } from '../queries/facts.js';
import { earliest } from '../rules/resolution.js';

/** A writer that was overtaken reads again; more often than this it does not happen without a fault. */
const TRIES = 5;

/**
 * `$1`: answers with the version that was read before the facts, 0 for none. Whoever has been overtaken since writes nothing, so no
 * older answer replaces a newer one. Source: entitlements 7.3.
 */
const KEEP = `
  insert into entitlements.entitlement_snapshot as s (user_id, version, features, computed_at, valid_until)
  select r.user_id, r.seen + 1, r.features, $2, r.valid_until
  from jsonb_to_recordset($1::jsonb) as r (user_id uuid, seen bigint, features jsonb, valid_until timestamptz) order by r.user_id
  on conflict (user_id) do update
    set version = excluded.version, features = excluded.features, computed_at = excluded.computed_at, valid_until = excluded.valid_until
    where s.version = excluded.version - 1
  returning user_id`;

type Answer = Pick<UserEntitlements, 'userId' | 'features' | 'validUntil'>;

function answerOf(facts: Facts, userId: string): Answer {
  const all = facts.features.map(feature => facts.resolve(feature, userId));
  return { userId, features: all.map(one => one.entitlement), validUntil: earliest(all.map(one => one.validUntil)) };
}

const asStored = (features: readonly Entitlement[]): unknown => JSON.parse(JSON.stringify(features));

/** Answers the users whose snapshot was written. */
async function keep(ctx: Context, answers: readonly (Answer & { seen: number })[]): Promise<Set<string>> {
  if (answers.length === 0) return new Set();
  const rows = answers.map(({ userId, seen, features, validUntil }) => ({ user_id: userId, seen, features, valid_until: validUntil }));
  const kept = await ctx.sql<{ user_id: string }>(KEEP, [JSON.stringify(rows), ctx.now().toISOString()]);
  return new Set(kept.map(row => row.user_id));
}

async function snapshotsOf(ctx: Context, userIds: readonly string[]): Promise<Map<string, EntitlementSnapshot>> {
  const rows = await ctx.em.find(EntitlementSnapshot, { userId: { $in: [...userIds] } }, { disableIdentityMap: true });
  return new Map(rows.map(row => [row.userId, row]));
}

/** One attempt for some users; who is missing in the answer was overtaken. */
async function attempt(ctx: Context, userIds: readonly string[]): Promise<UserEntitlements[]> {
  const known = await snapshotsOf(ctx, userIds);
  const facts = await Facts.read(ctx, userIds, null);
  const unchanged: UserEntitlements[] = [];
  const changed: (Answer & { seen: number })[] = [];
  for (const answer of userIds.map(userId => answerOf(facts, userId))) {
    const before = known.get(answer.userId);
    const isSame = isDeepStrictEqual(before?.features, asStored(answer.features));
    if (before && isSame) unchanged.push({ ...answer, version: before.version, computedAt: before.computedAt });
    else changed.push({ ...answer, seen: before?.version ?? 0 });
  }
  const kept = await keep(ctx, changed);
  const written = changed.filter(one => kept.has(one.userId));
  return [...unchanged, ...written.map(({ seen, ...answer }) => ({ ...answer, version: seen + 1, computedAt: ctx.now() }))];
}

/**
 * What each user may use now, in the order of the ids. It is made of the facts every time, so edges of time act by themselves; by the
 * snapshot it is known whether it differs from the last answer. @throws Problem unavailable when it was overtaken again and again.
 */
export async function entitlementsOf(ctx: Context, userIds: readonly string[]): Promise<UserEntitlements[]> {
  const found = new Map<string, UserEntitlements>();
  for (let tries = 0; tries < TRIES && found.size < userIds.length; tries++) {
    const missing = userIds.filter(id => !found.has(id));
    for (const one of await attempt(ctx, missing)) found.set(one.userId, one);
  }
  return userIds.map(id => found.get(id) ?? fail('unavailable', 'The entitlements change too fast to be read', { retryAfter: 1 }));
}

/** The same, joined with the other users of the request. */
export async function loadEntitlements(ctx: Context, userId: string): Promise<UserEntitlements> {
  return (await ctx.load('entitlements', userId.toLowerCase(), ids => entitlementsOf(ctx, ids)))!;
}
