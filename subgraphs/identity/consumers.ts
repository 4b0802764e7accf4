import { memberMilestoneUnlocked, membershipActivated, membershipTierChanged } from '../../events/catalogue/membership.js';
import { type Consumer, handle } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { awardMilestone, showTier } from './commands/badge.js';

const milestone = handle(memberMilestoneUnlocked, (ctx: Context, { user_id: userId, data }) =>
  awardMilestone(ctx, userId!, data.milestone, data.unlocked_at),
);

const activated = handle(membershipActivated, (ctx: Context, { user_id: userId, data }) =>
  showTier(ctx, userId!, data.tier_key, data.started_at),
);

const tier = handle(membershipTierChanged, (ctx: Context, { user_id: userId, data }) =>
  showTier(ctx, userId!, data.to_tier, data.effective_at),
);

/** Source: identity 5, what is consumed. */
export const consumers: readonly Consumer<Context>[] = [{ name: 'identity.badges', on: [milestone, activated, tier], partitions: 1 }];
