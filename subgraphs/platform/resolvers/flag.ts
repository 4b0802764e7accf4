import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { evaluateFlag } from '../../../runtime/flags/evaluation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { FlagEvaluation, FlagSnapshot } from '../entities/evaluation.js';
import { FeatureFlag, FlagRule } from '../entities/flag.js';
import { EvaluateFlagsInput } from '../inputs/evaluation.js';
import { FeatureFlagsArgs, FlagSnapshotArgs } from '../inputs/lists.js';
import { FLAG_OPERATORS, User } from '../references.js';
import { ownAttributes, target, targetOf } from '../queries/flag-target.js';
import { currentFlags, readerOf, readSnapshot, revisionOtherThan } from '../queries/snapshot.js';

async function rulesOf(ctx: Context, keys: readonly string[]): Promise<FlagRule[][]> {
  const rows = await ctx.em.find(FlagRule, { flagKey: { $in: [...keys] } }, { orderBy: { position: 'asc' } });
  return keys.map(key => rows.filter(row => row.flagKey === key));
}

@Resolver(() => FeatureFlag)
export class FlagResolver {
  @Access({ service: '*', user: '*', self: true })
  @Query(() => [FlagEvaluation], { description: 'Values of flags for a brand, a user and attributes, in the order of the keys.' })
  async evaluateFlags(@Arg('input', () => EvaluateFlagsInput) input: EvaluateFlagsInput, @Ctx() ctx: Context): Promise<FlagEvaluation[]> {
    const flags = await currentFlags(ctx);
    const asked = await targetOf(ctx, input, flags);
    return input.keys.map(key => evaluateFlag(flags, key, asked));
  }

  @Access({ service: '*' })
  @Query(() => FlagSnapshot, {
    nullable: true,
    description:
      'Flags of which the calling service is owner or reader (with admin:platform all); null while the revision is ifRevisionNot. With wait it answers when the revision changes, at the latest after so many seconds.',
  })
  async flagSnapshot(
    @Args(() => FlagSnapshotArgs) { ifRevisionNot, knownRevision, wait }: FlagSnapshotArgs,
    @Ctx() ctx: Context,
  ): Promise<FlagSnapshot | null> {
    const known = ifRevisionNot ?? knownRevision ?? null;
    const revision = known === null ? null : await revisionOtherThan(ctx, known, wait);
    if (ifRevisionNot != null && ifRevisionNot === revision) return null;
    return readSnapshot(ctx, readerOf(ctx));
  }

  @Access(FLAG_OPERATORS)
  @Query(() => [FeatureFlag], { description: 'Flags by key.' })
  featureFlags(
    @Args(() => FeatureFlagsArgs) { archived, keys, owner, ...asked }: FeatureFlagsArgs,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag[]> {
    const where = {
      ...(asked.protected != null && { protected: asked.protected }),
      ...(keys && { key: { $in: keys } }),
      ...(owner != null && { owner }),
    };
    return ctx.em.find(FeatureFlag, { ...where, archivedAt: archived ? { $ne: null } : null }, { orderBy: { key: 'asc' } });
  }

  @Access(FLAG_OPERATORS)
  @Query(() => FeatureFlag, { nullable: true })
  featureFlag(@Arg('key', () => String) key: string, @Ctx() ctx: Context): Promise<FeatureFlag | null> {
    return ctx.em.findOne(FeatureFlag, { key });
  }

  @Access(FLAG_OPERATORS)
  @FieldResolver(() => [FlagRule])
  async rules(@Root() flag: FeatureFlag, @Ctx() ctx: Context): Promise<FlagRule[]> {
    return (await ctx.load('flag:rules', flag.key, keys => rulesOf(ctx, keys))) ?? [];
  }
}

@Resolver(() => User)
export class UserFlagsResolver {
  @Access({ service: 'admin:platform', user: '*', staff: 'admin:platform:read' })
  @FieldResolver(() => [FlagEvaluation], { description: "Values of flags for this user; by default of the token's brand." })
  async flags(
    @Root() { id }: User,
    @Rule({ minItems: 1, maxItems: 100, maxLength: 128 }) @Arg('keys', () => [String]) keys: string[],
    @Arg('brandId', () => ID, { nullable: true }) brandId: string | null,
    @Ctx() ctx: Context,
  ): Promise<FlagEvaluation[]> {
    const own = ctx.caller.kind === 'user' && id === ctx.caller.userId;
    const flags = await currentFlags(ctx);
    const asked = target(brandId ?? ctx.caller.brandId, id, own ? await ownAttributes(ctx, flags, keys) : {});
    return keys.map(key => evaluateFlag(flags, key, asked));
  }
}
