import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import type { EntitlementCheck } from '../entities/entitlement.js';
import { EntitlementAccess, EntitlementDenialReason, EntitlementFeatureKind } from '../entities/enums.js';
import type { EntitlementFeature } from '../entities/feature.js';
import type { ConsumeEntitlementInput, ReturnEntitlementInput } from '../inputs/usage.js';
import { Facts, type Resolved } from '../queries/facts.js';
import { membershipsOf } from '../queries/memberships.js';
import { checkOf } from '../rules/resolution.js';

/** Waits for another request with the same key; answers nothing for a use that was counted before. */
const CLAIM = `
  insert into entitlements.usage_event (user_id, feature_key, period_start, idempotency_key, amount, at) values ($1, $2, $3, $4, $5, $6)
  on conflict do nothing returning 1 as claimed`;

/** The one conditional write: `$5` is a hard limit or null. No row: it would be exceeded. Source: entitlements 7.6. */
const COUNT = `
  insert into entitlements.usage_counter as c (user_id, feature_key, period_start, used)
  select $1, $2, $3, $4 where $5::bigint is null or $4::bigint <= $5
  on conflict (user_id, feature_key, period_start) do update set used = c.used + excluded.used where $5::bigint is null or c.used + excluded.used <= $5
  returning used`;

const TAKE_BACK = `
  update entitlements.usage_event set returned_at = $5
  where user_id = $1 and feature_key = $2 and period_start = $3 and idempotency_key = $4 and returned_at is null returning amount`;

const UNCOUNT = `
  update entitlements.usage_counter set used = greatest(used - $4, 0) where user_id = $1 and feature_key = $2 and period_start = $3`;

const KNOWN = `
  select amount, returned_at is not null as returned from entitlements.usage_event
  where user_id = $1 and feature_key = $2 and period_start = $3 and idempotency_key = $4`;

/** Earlier periods count no more, and their keys may be used again. Only whoever holds the counter's row comes here. */
const FORGET = ['usage_event', 'usage_counter'].map(
  table => `delete from entitlements.${table} where user_id = $1 and feature_key = $2 and period_start < $3`,
);

/** Who the user is a member of is asked before the transaction; in it, what was told is there. */
export const membershipKnown = preparation(async (ctx, { input }: { input: { userId: string } }): Promise<void> => {
  await membershipsOf(ctx, [input.userId.toLowerCase()]);
});

interface Use {
  feature: EntitlementFeature;
  resolved: Resolved;
  /** User, feature and period: what finds a counter. */
  counter: [userId: string, key: string, periodStart: string];
}

function refuse(key: string, reason: EntitlementDenialReason): never {
  const detail = reason === EntitlementDenialReason.LIMIT_REACHED ? `The limit of ${key} is reached` : `${key} may not be used`;
  fail('conflict', detail, { reason });
}

/** What there is to use. @throws Problem conflict for no feature, invalid_request for one that is not metered. */
async function useOf(ctx: Context, userId: string, key: string): Promise<Use> {
  const subject = userId.toLowerCase();
  const facts = await Facts.read(ctx, [subject], [key]);
  const [feature] = facts.features;
  if (!feature) return refuse(key, EntitlementDenialReason.UNKNOWN_FEATURE);
  if (feature.kind !== EntitlementFeatureKind.METERED) invalid('/input/key', 'is not a metered feature');
  const resolved = facts.resolve(feature, subject);
  return { feature, resolved, counter: [subject, key, resolved.period.start.toISOString()] };
}

/** Counts an amount, or throws, which counts nothing. */
async function count(ctx: Context, { feature, resolved: { entitlement, softLimit }, counter }: Use, amount: number): Promise<void> {
  if (entitlement.access === EntitlementAccess.DENIED) refuse(feature.key, entitlement.reason!);
  const hard = softLimit ? null : entitlement.limit;
  const rows = await ctx.sql(COUNT, [...counter, amount, hard]);
  if (rows.length === 0) refuse(feature.key, EntitlementDenialReason.LIMIT_REACHED);
  for (const statement of FORGET) await ctx.sql(statement, counter);
}

/** A repetition counts nothing. @throws Problem idempotency_mismatch for another amount, conflict for a use that was taken back. */
async function requireSame(ctx: Context, { counter }: Use, idempotencyKey: string, amount: number): Promise<void> {
  const [known] = await ctx.sql<{ amount: string; returned: boolean }>(KNOWN, [...counter, idempotencyKey]);
  if (Number(known?.amount) !== amount) fail('idempotency_mismatch', 'This key was used with another amount');
  if (known!.returned) fail('conflict', 'This use was taken back', { reason: 'returned' });
}

async function checkAgain(ctx: Context, { feature, counter: [userId, key] }: Use): Promise<EntitlementCheck> {
  const resolved = (await Facts.read(ctx, [userId], [key])).resolve(feature, userId);
  return checkOf(userId, resolved, resolved.validUntil);
}

/** Counts a use: all of it or nothing, and once for each key. The check that is answered is about this use; the next one may find nothing left. */
export async function consume(ctx: Context, { userId, key, amount, idempotencyKey }: ConsumeEntitlementInput): Promise<EntitlementCheck> {
  const use = await useOf(ctx, userId, key);
  const claimed = await ctx.sql(CLAIM, [...use.counter, idempotencyKey, amount, ctx.now().toISOString()]);
  if (claimed.length) await count(ctx, use, amount);
  else await requireSame(ctx, use, idempotencyKey, amount);
  ctx.audit('entitlement.consumed', use.counter[0], { feature: key, amount, repeated: claimed.length === 0 });
  return { ...(await checkAgain(ctx, use)), allowed: true, reason: null };
}

/** Takes a use of the current period back, once. @throws Problem not_found for a key that names no use. */
export async function takeBack(ctx: Context, { userId, key, idempotencyKey }: ReturnEntitlementInput): Promise<EntitlementCheck> {
  const use = await useOf(ctx, userId, key);
  const [taken] = await ctx.sql<{ amount: string }>(TAKE_BACK, [...use.counter, idempotencyKey, ctx.now().toISOString()]);
  if (taken) await ctx.sql(UNCOUNT, [...use.counter, taken.amount]);
  else if ((await ctx.sql(KNOWN, [...use.counter, idempotencyKey])).length === 0) fail('not_found', 'Not found');
  ctx.audit('entitlement.returned', use.counter[0], { feature: key, amount: Number(taken?.amount ?? 0) });
  return checkAgain(ctx, use);
}
