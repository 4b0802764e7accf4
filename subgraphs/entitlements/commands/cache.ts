import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import type { EntitlementCacheStats } from '../entities/tier.js';
import type { InvalidateEntitlementsInput } from '../inputs/tier.js';
import { memoryOf } from '../ports/memory.js';
import { membershipsOf } from '../queries/memberships.js';
import { entitlementsOf } from './snapshot.js';
import { forgetEverything, forgetUsers } from './forgetting.js';

const EPOCH = 'select epoch::text as epoch from entitlements.cache_epoch';
/** Whatever is copied is asked anew. */
const AGE = "update entitlements.membership_copy set asked_at = '-infinity' where user_id = any($1)";
const AGE_TIER = `
  update entitlements.membership_copy set asked_at = '-infinity' where memberships @> jsonb_build_array(jsonb_build_object('tierId', $1::text)) returning user_id`;
const AGE_ALL = "update entitlements.membership_copy set asked_at = '-infinity'";

/** What this process keeps. */
export async function cacheStats(ctx: Context): Promise<EntitlementCacheStats> {
  const memory = memoryOf(ctx.host);
  const [row] = await ctx.sql<{ epoch: string }>(EPOCH);
  const oldest = memory.oldestAt();
  const { size: entries, hits, misses, staleServed, evictions } = memory;
  const oldestSeconds = oldest === null ? 0 : Math.max(0, Math.floor((ctx.now().getTime() - oldest) / 1000));
  return { entries, hits, misses, staleServed, evictions, epoch: Number(row!.epoch), oldestSeconds };
}

const GIVEN = ['userIds', 'featureKey', 'tierId', 'all'] as const;

/** Lets everything be read anew that concerns some users, a tier, a feature, or everybody. */
export async function invalidate(ctx: Context, input: InvalidateEntitlementsInput): Promise<EntitlementCacheStats> {
  const { userIds, featureKey, tierId, all } = input;
  if (GIVEN.filter(name => input[name] != null && input[name] !== false).length !== 1)
    invalid('/input', 'give exactly one of user_ids, feature_key, tier_id and all');
  if (userIds) await ageUsers(ctx, userIds);
  if (tierId) await ageTier(ctx, tierId);
  if (all) await ctx.sql(AGE_ALL);
  if (all || featureKey != null) await forgetEverything(ctx);
  ctx.audit('entitlement_cache.invalidated', tierId ?? featureKey ?? null, { users: userIds?.length ?? null, all: all === true });
  return cacheStats(ctx);
}

async function ageUsers(ctx: Context, ids: readonly string[]): Promise<void> {
  const userIds = ids.map(id => id.toLowerCase());
  await ctx.sql(AGE, [userIds]);
  forgetUsers(ctx, userIds);
}

async function ageTier(ctx: Context, tierId: string): Promise<void> {
  const aged = await ctx.sql<{ user_id: string }>(AGE_TIER, [tierId.toLowerCase()]);
  forgetUsers(
    ctx,
    aged.map(row => row.user_id),
  );
}

/** Reads some users before somebody asks. */
export async function warm(ctx: Context, ids: readonly string[]): Promise<EntitlementCacheStats> {
  const userIds = [...new Set(ids.map(id => id.toLowerCase()))];
  await membershipsOf(ctx, userIds);
  await entitlementsOf(ctx, userIds);
  return cacheStats(ctx);
}
