import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions, Prepare } from '../../../runtime/request/operation.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { cacheStats, invalidate, warm } from '../commands/cache.js';
import { removeTierFeature, setTierFeature, tierKnown } from '../commands/tier.js';
import { ANYBODY, CACHE_OPERATORS, FEATURE_WRITERS, READERS, SIMULATORS } from '../entities/access.js';
import { EntitlementFeature } from '../entities/feature.js';
import { EntitlementCacheStats, EntitlementSimulation, TierFeature } from '../entities/tier.js';
import { MAX_ASKED } from '../inputs/feature.js';
import { InvalidateEntitlementsInput, SetTierFeatureInput, WarmEntitlementsInput } from '../inputs/tier.js';
import { featuresOfTiers, simulate } from '../queries/tier.js';
import { MembershipTier } from '../stubs.js';

@Resolver(() => TierFeature)
export class TierFeatureResolver {
  @Access(FEATURE_WRITERS)
  @Query(() => [TierFeature], { description: 'What a tier gives, by key.' })
  async tierFeatures(@Rule({ pattern: UUID }) @Arg('tierId', () => ID) tierId: string, @Ctx() ctx: Context): Promise<TierFeature[]> {
    return (await featuresOfTiers(ctx, [tierId.toLowerCase()]))[0]!;
  }

  @Access(FEATURE_WRITERS)
  @Prepare(tierKnown)
  @Mutation(() => TierFeature, { description: 'Gives a tier a feature, or changes what it gives; all members have it at once.' })
  setTierFeature(@Arg('input', () => SetTierFeatureInput) input: SetTierFeatureInput, @Ctx() ctx: Context): Promise<TierFeature> {
    return setTierFeature(ctx, input);
  }

  @Access(FEATURE_WRITERS)
  @Mutation(() => TierFeature, { description: 'Takes a feature from a tier.' })
  removeTierFeature(
    @Rule({ pattern: UUID }) @Arg('tierId', () => ID) tierId: string,
    @Rule({ maxLength: MAX_ASKED }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<TierFeature> {
    return removeTierFeature(ctx, tierId, key);
  }

  @Access(SIMULATORS)
  @Query(() => EntitlementSimulation, { description: 'What a user would gain, lose and have otherwise on another tier.' })
  simulateTierChange(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID) userId: string,
    @Rule({ pattern: UUID }) @Arg('tierId', () => ID) tierId: string,
    @Ctx() ctx: Context,
  ): Promise<EntitlementSimulation> {
    return simulate(ctx, userId.toLowerCase(), tierId);
  }

  @Access(READERS)
  @FieldResolver(() => EntitlementFeature)
  async feature(@Root() { featureKey }: TierFeature, @Ctx() ctx: Context): Promise<EntitlementFeature> {
    return (await loadRow(ctx, EntitlementFeature, 'key', featureKey))!;
  }
}

@Resolver(() => MembershipTier)
export class MembershipTierResolver {
  @Access(ANYBODY)
  @FieldResolver(() => [TierFeature], { description: 'What it gives, by key.' })
  async features(@Root() { id }: MembershipTier, @Ctx() ctx: Context): Promise<TierFeature[]> {
    return (await ctx.load('entitlements.tier', id.toLowerCase(), ids => featuresOfTiers(ctx, ids)))!;
  }
}

@Resolver()
export class CacheResolver {
  @Access(CACHE_OPERATORS)
  @Query(() => EntitlementCacheStats, { description: 'What the answering process keeps.' })
  entitlementCacheStats(@Ctx() ctx: Context): Promise<EntitlementCacheStats> {
    return cacheStats(ctx);
  }

  @Access(CACHE_OPERATORS)
  @Mutation(() => EntitlementCacheStats, { description: 'Lets answers be read anew in all processes.' })
  invalidateEntitlements(
    @Arg('input', () => InvalidateEntitlementsInput) input: InvalidateEntitlementsInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementCacheStats> {
    return invalidate(ctx, input);
  }

  @Access(CACHE_OPERATORS)
  @OwnTransactions('what is read before somebody asks is the same the second time')
  @Mutation(() => EntitlementCacheStats, { description: 'Reads some users before somebody asks.' })
  warmEntitlements(
    @Arg('input', () => WarmEntitlementsInput) { userIds }: WarmEntitlementsInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementCacheStats> {
    return warm(ctx, userIds);
  }
}
