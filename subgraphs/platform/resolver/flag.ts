import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access.js';
import { actorOf } from '../../../runtime/caller.js';
import { Context } from '../../../runtime/context.js';
import { fail } from '../../../runtime/errors.js';
import { evaluateFlag, type FlagTarget } from '../../../runtime/flags.js';
import { Rule } from '../../../runtime/rule.js';
import { FlagEvaluation, FlagSnapshot } from '../entities/evaluation.js';
import { FeatureFlag, FlagChange, FlagChangeStatus, FlagRule } from '../entities/flag.js';
import { EvaluateFlagsInput, FeatureFlagsArgs, FlagAttributesInput, KillFeatureFlagInput } from '../inputs.js';
import { FLAG_OPERATORS, User } from '../references.js';
import { attributeViolations } from '../rules.js';
import { invalidateActiveBrands } from './invalidation.js';
import { currentFlags, flagRevision, readSnapshot } from './snapshot.js';

type Attributes = Record<string, string | readonly string[]>;

/** Attributes under the evaluator's names, without absent ones. */
function attributesOf({ country, locale, role, tier, client, appVersion }: FlagAttributesInput): Attributes {
  const all = { COUNTRY: country, LOCALE: locale, ROLE: role, TIER: tier, CLIENT: client, APP_VERSION: appVersion };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value != null)) as Attributes;
}

/** What a user's token says about its user. The tier is entitlements' to say; until it is asked, conditions on it are false. */
const tokenAttributes = ({ caller }: Context): FlagAttributesInput => ({ role: [...caller.roles], client: caller.clientId });

/** @throws Problem invalid_request when a user token sets what only a service may. */
function targetOf(ctx: Context, input: EvaluateFlagsInput): FlagTarget {
  const { brandId, userId, attributes } = input;
  if (ctx.caller.kind === 'service') return target(brandId, userId, attributes ?? {});
  const errors = attributeViolations({ ...attributes });
  if (errors.length) fail('invalid_request', 'The input is invalid', { errors });
  return target(brandId ?? ctx.caller.brandId, ctx.caller.userId, { ...attributes, ...tokenAttributes(ctx) });
}

/** Ids are stored in lower case, and a bucket is made of the very text. */
const target = (brandId: string | null | undefined, userId: string | null | undefined, attributes: FlagAttributesInput): FlagTarget => ({
  brandId: brandId?.toLowerCase() ?? null,
  userId: userId?.toLowerCase() ?? null,
  attributes: attributesOf(attributes),
});

async function rulesOf(ctx: Context, keys: readonly string[]): Promise<FlagRule[][]> {
  const rows = await ctx.em.find(FlagRule, { flagKey: { $in: [...keys] } }, { orderBy: { position: 'asc' } });
  return keys.map(key => rows.filter(row => row.flagKey === key));
}

/** Writes a change of a flag and the record of it: the revision grows by one. */
function apply(ctx: Context, flag: FeatureFlag, change: Partial<FeatureFlag>, reason: string): void {
  const before = Object.fromEntries(Object.keys(change).map(name => [name, flag[name as keyof FeatureFlag]]));
  Object.assign(flag, change, { revision: flag.revision + 1 });
  const { key: flagKey, revision } = flag;
  const facts = {
    flagKey,
    before,
    after: { ...change },
    reason,
    requestedBy: actorOf(ctx.caller),
    status: FlagChangeStatus.APPLIED,
    revision,
    createdAt: ctx.now(),
  };
  ctx.em.persist(Object.assign(new FlagChange(), facts));
}

@Resolver(() => FeatureFlag)
export class FlagResolver {
  @Access({ service: '*', user: '*', self: true })
  @Query(() => [FlagEvaluation], { description: 'Values of flags for a brand, a user and attributes, in the order of the keys.' })
  async evaluateFlags(@Arg('input', () => EvaluateFlagsInput) input: EvaluateFlagsInput, @Ctx() ctx: Context): Promise<FlagEvaluation[]> {
    const asked = targetOf(ctx, input);
    const flags = await currentFlags(ctx);
    return input.keys.map(key => evaluateFlag(flags, key, asked));
  }

  @Access({ service: '*' })
  @Query(() => FlagSnapshot, {
    nullable: true,
    description:
      'Flags of which the calling service is owner or reader (with admin:platform all); null while the revision is the given one.',
  })
  async flagSnapshot(
    @Arg('ifRevisionNot', () => Int, { nullable: true }) ifRevisionNot: number | null,
    @Ctx() ctx: Context,
  ): Promise<FlagSnapshot | null> {
    if (ifRevisionNot != null && ifRevisionNot === (await flagRevision(ctx))) return null;
    return readSnapshot(ctx, ctx.caller.scopes.has('admin:platform') ? null : (ctx.caller.serviceSlug ?? ''));
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
  @Mutation(() => FeatureFlag, {
    description: 'Serves the off variant to everyone at once: no guard, no approval. Killing again changes nothing.',
  })
  async killFeatureFlag(
    @Arg('input', () => KillFeatureFlagInput) { key, reason }: KillFeatureFlagInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureFlag> {
    const flag = (await ctx.em.findOne(FeatureFlag, { key }, { lockMode: LockMode.PESSIMISTIC_WRITE })) ?? fail('not_found', 'Not found');
    ctx.audit('feature_flag.killed', key, { was_killed: flag.killed });
    if (flag.killed) return flag;
    apply(ctx, flag, { killed: true }, reason);
    await invalidateActiveBrands(ctx, ['flags']);
    return flag;
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
    const asked = target(brandId ?? ctx.caller.brandId, id, own ? tokenAttributes(ctx) : {});
    const flags = await currentFlags(ctx);
    return keys.map(key => evaluateFlag(flags, key, asked));
  }
}
