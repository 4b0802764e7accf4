import { LockMode, type FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { EntitlementFeature } from '../entities/feature.js';
import { EntitlementOverride, EntitlementOverrideConnection } from '../entities/override.js';
import { EntitlementOverrideState, EntitlementSource, OVERRIDE_WRITERS, READERS } from '../entities/enums.js';
import { CreateEntitlementOverrideInput, EntitlementOverridesArgs } from '../inputs/override.js';
import { User } from '../stubs.js';
import { stateOf } from '../rules/resolution.js';
import { overrideViolations } from '../rules/values.js';
import { end, purchaseOf } from '../queries/purchase.js';

/** The state follows from the time, so a list of one state is a list of times. */
function inState(state: EntitlementOverrideState, now: Date): FilterQuery<EntitlementOverride> {
  const ended = { endsAt: { $lte: now } };
  const lasting = { $or: [{ endsAt: null }, { endsAt: { $gt: now } }] };
  if (state === EntitlementOverrideState.ENDED) return ended;
  const begun = state === EntitlementOverrideState.ACTIVE;
  return { $and: [lasting, { startsAt: begun ? { $lte: now } : { $gt: now } }] };
}

async function featuresOf(ctx: Context, keys: readonly string[]): Promise<(EntitlementFeature | null)[]> {
  const rows = await ctx.em.find(EntitlementFeature, { key: { $in: [...keys] } });
  return inOrder(keys, rows, row => row.key);
}

/** @throws Problem invalid_request naming everything that is wrong. */
async function requireSound(ctx: Context, override: EntitlementOverride): Promise<void> {
  const feature = await ctx.em.findOne(EntitlementFeature, { key: override.featureKey, archivedAt: null });
  const errors = overrideViolations(override, feature?.kind ?? null, ctx.now());
  requireValid(errors);
}

function draft(ctx: Context, input: CreateEntitlementOverrideInput): EntitlementOverride {
  const { userId, startsAt, ...given } = input;
  const { userId: staff, clientId } = ctx.caller;
  return Object.assign(new EntitlementOverride(), {
    ...given,
    userId: userId.toLowerCase(),
    value: given.value ?? null,
    limit: given.limit ?? null,
    endsAt: given.endsAt ?? null,
    reference: given.reference ?? null,
    startsAt: startsAt ?? ctx.now(),
    createdBy: staff ?? clientId,
    createdAt: ctx.now(),
  });
}

@Resolver(() => EntitlementOverride)
export class OverrideResolver {
  @Access(READERS)
  @Query(() => EntitlementOverrideConnection, { description: 'Overrides and purchases, newest first.' })
  entitlementOverrides(
    @Args(() => EntitlementOverridesArgs) { userId, featureKey, reference, state, ...paging }: EntitlementOverridesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<EntitlementOverride>> {
    const asked = { ...(userId && { userId: userId.toLowerCase() }), ...(featureKey && { featureKey }), ...(reference && { reference }) };
    const where = { $and: [asked, state ? inState(state, ctx.now()) : {}] } as FilterQuery<EntitlementOverride>;
    return page<EntitlementOverride>(ctx.em, EntitlementOverride, where, paging, { time: 'createdAt' });
  }

  @Access(READERS)
  @Query(() => EntitlementOverride, { nullable: true })
  async entitlementOverride(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<EntitlementOverride | null> {
    return isUuid(id) ? ctx.em.findOne(EntitlementOverride, { id }) : null;
  }

  @Access(OVERRIDE_WRITERS)
  @Mutation(() => EntitlementOverride, {
    description: 'Allows or denies a feature to a user, now or later. A purchase is made once for each reference and feature.',
  })
  async createEntitlementOverride(
    @Arg('input', () => CreateEntitlementOverrideInput) input: CreateEntitlementOverrideInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementOverride> {
    const override = draft(ctx, input);
    const { source, reference, featureKey, userId } = override;
    const purchase = source === EntitlementSource.PURCHASE;
    if (purchase && ctx.caller.kind !== 'service') fail('forbidden', 'A purchase is told by a service');
    await requireSound(ctx, override);
    const before = purchase ? await purchaseOf(ctx, reference!, featureKey) : null;
    if (before) return this.#repeated(ctx, before, userId);
    ctx.em.persist(override);
    ctx.audit('entitlement_override.created', override.id, { user_id: userId, feature: featureKey, allow: override.allow, source });
    return override;
  }

  #repeated(ctx: Context, before: EntitlementOverride, userId: string): EntitlementOverride {
    if (before.userId !== userId) fail('conflict', 'This purchase is of another user');
    ctx.audit('entitlement_override.repeated', before.id);
    ctx.status(200);
    return before;
  }

  @Access(OVERRIDE_WRITERS)
  @Mutation(() => EntitlementOverride, { description: 'Ends an override now. One that has ended stays as it is.' })
  async revokeEntitlementOverride(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<EntitlementOverride> {
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE };
    const override = (isUuid(id) ? await ctx.em.findOne(EntitlementOverride, { id }, lock) : null) ?? fail('not_found', 'Not found');
    const state = stateOf(override, ctx.now());
    ctx.audit('entitlement_override.revoked', id, { was: state, ends_at: override.endsAt });
    if (state !== EntitlementOverrideState.ENDED) end(override, ctx.now());
    return override;
  }

  @Access(READERS)
  @FieldResolver(() => EntitlementOverrideState)
  state(@Root() override: EntitlementOverride, @Ctx() ctx: Context): EntitlementOverrideState {
    return stateOf(override, ctx.now());
  }

  @Access(READERS)
  @FieldResolver(() => User)
  user(@Root() { userId }: EntitlementOverride): User {
    return { id: userId };
  }

  @Access(READERS)
  @FieldResolver(() => EntitlementFeature)
  async feature(@Root() { featureKey }: EntitlementOverride, @Ctx() ctx: Context): Promise<EntitlementFeature> {
    return (await ctx.load('entitlement.feature', featureKey, keys => featuresOf(ctx, keys)))!;
  }
}
