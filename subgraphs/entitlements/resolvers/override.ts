import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { createOverride, revokeOverride } from '../commands/override.js';
import { OVERRIDE_WRITERS, READERS } from '../entities/access.js';
import { EntitlementOverrideState } from '../entities/enums.js';
import { EntitlementFeature } from '../entities/feature.js';
import { EntitlementOverride, EntitlementOverrideConnection } from '../entities/override.js';
import { CreateEntitlementOverrideInput, EntitlementOverridesArgs } from '../inputs/override.js';
import { overridesPage } from '../queries/lists.js';
import { stateOf } from '../rules/override.js';
import { User } from '../stubs.js';

@Resolver(() => EntitlementOverride)
export class OverrideResolver {
  @Access(READERS)
  @Query(() => EntitlementOverrideConnection, { description: 'Overrides and purchases, newest first.' })
  entitlementOverrides(
    @Args(() => EntitlementOverridesArgs) args: EntitlementOverridesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<EntitlementOverride>> {
    return overridesPage(ctx, args);
  }

  @Access(READERS)
  @Query(() => EntitlementOverride, { nullable: true })
  entitlementOverride(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<EntitlementOverride | null> {
    return findRow(ctx, EntitlementOverride, { id });
  }

  @Access(OVERRIDE_WRITERS)
  @Mutation(() => EntitlementOverride, {
    description: 'Allows or denies a feature to a user, now or later. A purchase is made once for each reference and feature.',
  })
  createEntitlementOverride(
    @Arg('input', () => CreateEntitlementOverrideInput) input: CreateEntitlementOverrideInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementOverride> {
    return createOverride(ctx, input);
  }

  @Access(OVERRIDE_WRITERS)
  @Mutation(() => EntitlementOverride, { description: 'Ends an override now. One that has ended stays as it is.' })
  revokeEntitlementOverride(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<EntitlementOverride> {
    return revokeOverride(ctx, id);
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
    return (await loadRow(ctx, EntitlementFeature, 'key', featureKey))!;
  }
}
