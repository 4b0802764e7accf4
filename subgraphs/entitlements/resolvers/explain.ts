import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { EntitlementExplanation, EntitlementRuleTried } from '../entities/entitlement.js';
import type { EntitlementFeature } from '../entities/feature.js';
import { EntitlementOverride } from '../entities/override.js';
import { EntitlementSnapshot } from '../entities/snapshot.js';
import { EntitlementAccess, READERS } from '../entities/enums.js';
import { MAX_ASKED } from '../inputs/patterns.js';
import { newestFirst, tried } from '../rules/resolution.js';
import { Facts } from '../queries/facts.js';

/** Overrides that are shown with a rule, the newest. */
const SHOWN = 50;

/** Every rule in order, with its facts: also those that have ended or have not begun. */
async function rulesTried(ctx: Context, feature: EntitlementFeature, userId: string): Promise<EntitlementRuleTried[]> {
  const all = await ctx.em.find(EntitlementOverride, { userId, featureKey: feature.key }, { orderBy: { createdAt: 'desc', id: 'desc' } });
  const newest = all.toSorted(newestFirst);
  return tried(feature, newest, ctx.now()).map(({ rule, said, decisive }) => ({
    rule,
    access: said && (said.allow ? EntitlementAccess.GRANTED : EntitlementAccess.DENIED),
    decisive,
    overrides: newest.filter(one => one.source === rule).slice(0, SHOWN),
  }));
}

@Resolver()
export class ExplainResolver {
  @Access(READERS)
  @Query(() => EntitlementExplanation, { description: 'Why a user may use a feature, or may not: every rule that is tried, in order.' })
  async explainEntitlement(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID) id: string,
    @Rule({ maxLength: MAX_ASKED }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<EntitlementExplanation> {
    const userId = id.toLowerCase();
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
      rules: feature ? await rulesTried(ctx, feature, userId) : [],
      snapshotVersion: snapshot?.version ?? null,
    };
  }
}
