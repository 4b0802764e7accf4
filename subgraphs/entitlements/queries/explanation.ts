import type { Context } from '../../../runtime/request/context.js';
import type { EntitlementExplanation, EntitlementRuleTried } from '../entities/entitlement.js';
import type { EntitlementFeature } from '../entities/feature.js';
import { EntitlementOverride } from '../entities/override.js';
import { EntitlementSnapshot } from '../entities/snapshot.js';
import { newestFirst } from '../rules/override.js';
import { EntitlementAccess, EntitlementSource } from '../entities/enums.js';
import { Facts } from './facts.js';

/** Overrides that are shown with a rule, the newest. */
const SHOWN = 50;

/** Every rule in order, with its facts: also those that have ended or have not begun. */
async function rulesTried(ctx: Context, facts: Facts, feature: EntitlementFeature, userId: string): Promise<EntitlementRuleTried[]> {
  const all = await ctx.em.find(EntitlementOverride, { userId, featureKey: feature.key }, { orderBy: { createdAt: 'desc', id: 'desc' } });
  const newest = all.toSorted(newestFirst);
  const tiers = [...new Set((facts.known(userId).memberships ?? []).map(one => one.tierId))];
  return facts.tried(feature, userId, newest).map(({ rule, outcome, decisive }) => ({
    rule,
    access: outcome && (outcome.allow ? EntitlementAccess.GRANTED : EntitlementAccess.DENIED),
    decisive,
    tiers: rule === EntitlementSource.TIER ? tiers.map(id => ({ id })) : [],
    overrides: newest.filter(one => one.source === rule).slice(0, SHOWN),
  }));
}

/** Why a user may use a feature now, or may not; of an unknown feature there are no rules. */
export async function explanationOf(ctx: Context, userId: string, key: string): Promise<EntitlementExplanation> {
  const facts = await Facts.read(ctx, [userId], [key]);
  const feature = facts.features[0] ?? null;
  const snapshot = await ctx.em.findOne(EntitlementSnapshot, { userId });
  return {
    userId,
    key,
    at: ctx.now(),
    check: facts.check(key, userId),
    feature,
    entitlement: feature && facts.resolve(feature, userId).entitlement,
    rules: feature ? await rulesTried(ctx, facts, feature, userId) : [],
    snapshotVersion: snapshot?.version ?? null,
  };
}
