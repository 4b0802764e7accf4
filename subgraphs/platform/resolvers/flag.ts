import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { archiveFlag, changeFlag, changeGate, createFlag, killFlag, unkillFlag, unkillGate } from '../commands/flag.js';
import { FLAG_OPERATORS } from '../entities/access.js';
import { FlagEvaluation, FlagSnapshot } from '../entities/evaluation.js';
import { FlagOutcome, type FlagChange } from '../entities/flag-change.js';
import { FeatureFlag, FlagRule } from '../entities/flag.js';
import { EvaluateFlagsInput } from '../inputs/evaluation.js';
import {
  ArchiveFeatureFlagInput,
  ChangeFeatureFlagInput,
  CreateFeatureFlagInput,
  KillFeatureFlagInput,
  UnkillFeatureFlagInput,
} from '../inputs/flag.js';
import { FeatureFlagsArgs, FlagSnapshotArgs } from '../inputs/lists.js';
import { evaluateFlags, flagsOfUser } from '../queries/evaluation.js';
import { flagsBy, rulesOf } from '../queries/flags.js';
import { snapshotFor } from '../queries/snapshot.js';
import { User } from '../stubs.js';

@Resolver(() => FeatureFlag)
export class FlagResolver {
  @Access({ service: '*', user: '*', self: true })
  @Query(() => [FlagEvaluation], { description: 'Values of flags for a brand, a user and attributes, in the order of the keys.' })
  evaluateFlags(@Arg('input', () => EvaluateFlagsInput) input: EvaluateFlagsInput, @Ctx() ctx: Context): Promise<FlagEvaluation[]> {
    return evaluateFlags(ctx, input);
  }

  @Access({ service: '*' })
  @Query(() => FlagSnapshot, {
    nullable: true,
    description:
      'Flags of which the calling service is owner or reader (with admin:platform all); null while the revision is ifRevisionNot. With wait it answers when the revision changes, at the latest after so many seconds.',
  })
  flagSnapshot(@Args(() => FlagSnapshotArgs) args: FlagSnapshotArgs, @Ctx() ctx: Context): Promise<FlagSnapshot | null> {
    return snapshotFor(ctx, args);
  }

  @Access(FLAG_OPERATORS)
  @Query(() => [FeatureFlag], { description: 'Flags by key.' })
  featureFlags(@Args(() => FeatureFlagsArgs) args: FeatureFlagsArgs, @Ctx() ctx: Context): Promise<FeatureFlag[]> {
    return flagsBy(ctx, args);
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

  @Access(FLAG_OPERATORS)
  @Mutation(() => FeatureFlag)
  createFeatureFlag(@Arg('input', () => CreateFeatureFlagInput) input: CreateFeatureFlagInput, @Ctx() ctx: Context): Promise<FeatureFlag> {
    return createFlag(ctx, input);
  }

  @Access(FLAG_OPERATORS)
  @Prepare(changeGate)
  @Mutation(() => FlagOutcome, {
    description: 'Changes a flag. A protected one waits for an approval, lowering a stage excepted; applyAt schedules it.',
  })
  changeFeatureFlag(
    @Arg('input', () => ChangeFeatureFlagInput) input: ChangeFeatureFlagInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag | FlagChange> {
    return changeFlag(ctx, input);
  }

  @Access(FLAG_OPERATORS)
  @Mutation(() => FeatureFlag, {
    description: 'Serves the off variant to everyone at once: no guard, no approval. Killing again changes nothing.',
  })
  killFeatureFlag(@Arg('input', () => KillFeatureFlagInput) input: KillFeatureFlagInput, @Ctx() ctx: Context): Promise<FeatureFlag> {
    return killFlag(ctx, input);
  }

  @Access(FLAG_OPERATORS)
  @Prepare(unkillGate)
  @Mutation(() => FlagOutcome, { description: 'Lets the rules decide again: a change like any other of the flag.' })
  unkillFeatureFlag(
    @Arg('input', () => UnkillFeatureFlagInput) input: UnkillFeatureFlagInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag | FlagChange> {
    return unkillFlag(ctx, input);
  }

  @Access(FLAG_OPERATORS)
  @Mutation(() => FlagOutcome, { description: 'Takes a flag out of use; its key is never used again.' })
  archiveFeatureFlag(
    @Arg('input', () => ArchiveFeatureFlagInput) input: ArchiveFeatureFlagInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag | FlagChange> {
    return archiveFlag(ctx, input);
  }
}

@Resolver(() => User)
export class UserFlagsResolver {
  @Access({ service: 'admin:platform', user: '*', staff: 'admin:platform:read' })
  @FieldResolver(() => [FlagEvaluation], { description: "Values of flags for this user; by default of the token's brand." })
  flags(
    @Root() { id }: User,
    @Rule({ minItems: 1, maxItems: 100, maxLength: 128 }) @Arg('keys', () => [String]) keys: string[],
    @Arg('brandId', () => ID, { nullable: true }) brandId: string | null,
    @Ctx() ctx: Context,
  ): Promise<FlagEvaluation[]> {
    return flagsOfUser(ctx, id, keys, brandId);
  }
}
