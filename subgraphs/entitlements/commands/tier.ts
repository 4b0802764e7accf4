import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { EntitlementFeature } from '../entities/feature.js';
import { TierFeature } from '../entities/tier.js';
import type { SetTierFeatureInput } from '../inputs/tier.js';
import { askTiers } from '../ports/membership.js';
import { grantViolations } from '../rules/validation.js';
import { forgetEverything } from './forgetting.js';

/** The tier is membership's, which is asked before the transaction. */
export const tierKnown = preparation(async (ctx, { input }: { input: SetTierFeatureInput }): Promise<void> => {
  const tiers = await askTiers(ctx);
  if (!tiers.some(tier => tier.id === input.tierId.toLowerCase())) invalid('/input/tierId', 'is no tier');
});

/** Gives a tier a feature, or changes what it gives, for all its members at once. @throws Problem invalid_request naming what is wrong. */
export async function setTierFeature(ctx: Context, input: SetTierFeatureInput): Promise<TierFeature> {
  const { tierId, key, value = null, limit = null, softLimit, reset, keepWhileSuspended } = input;
  const feature = await ctx.em.findOne(EntitlementFeature, { key, archivedAt: null });
  requireValid(grantViolations({ value, limit, softLimit, reset }, key, feature?.kind ?? null));
  const id = tierId.toLowerCase();
  const known = await ctx.em.findOne(TierFeature, { tierId: id, featureKey: key });
  const given = { tierId: id, featureKey: key, value, limit, softLimit, reset, keepWhileSuspended };
  const row = Object.assign(known ?? new TierFeature(), given);
  ctx.em.persist(row);
  await forgetEverything(ctx);
  ctx.audit('tier_feature.set', id, { feature: key, limit, was_there: known !== null });
  return row;
}

/** Takes a feature from a tier. @throws Problem not_found where it does not give it. */
export async function removeTierFeature(ctx: Context, tierId: string, key: string): Promise<TierFeature> {
  const row = await ctx.em.findOne(TierFeature, { tierId: tierId.toLowerCase(), featureKey: key });
  if (!row) fail('not_found', 'Not found');
  ctx.em.remove(row);
  await forgetEverything(ctx);
  ctx.audit('tier_feature.removed', row.tierId, { feature: key });
  return row;
}
