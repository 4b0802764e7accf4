import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { archiveFeature, createFeature, updateFeature } from '../commands/feature.js';
import { FEATURE_WRITERS, READERS } from '../entities/access.js';
import { EntitlementFeature, EntitlementFeatureConnection } from '../entities/feature.js';
import { CreateEntitlementFeatureInput, EntitlementFeaturesArgs, MAX_ASKED, UpdateEntitlementFeatureInput } from '../inputs/feature.js';
import { featuresPage } from '../queries/lists.js';

@Resolver(() => EntitlementFeature)
export class FeatureResolver {
  @Access(READERS)
  @Query(() => EntitlementFeatureConnection, { description: 'Features by key.' })
  entitlementFeatures(
    @Args(() => EntitlementFeaturesArgs) args: EntitlementFeaturesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<EntitlementFeature>> {
    return featuresPage(ctx, args);
  }

  @Access(READERS)
  @Query(() => EntitlementFeature, { nullable: true, description: 'One feature, an archived one too.' })
  entitlementFeature(
    @Rule({ maxLength: MAX_ASKED }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<EntitlementFeature | null> {
    return ctx.em.findOne(EntitlementFeature, { key });
  }

  @Access(FEATURE_WRITERS)
  @Mutation(() => EntitlementFeature)
  createEntitlementFeature(
    @Arg('input', () => CreateEntitlementFeatureInput) input: CreateEntitlementFeatureInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementFeature> {
    return createFeature(ctx, input);
  }

  @Access(FEATURE_WRITERS)
  @Mutation(() => EntitlementFeature, { description: 'Changes a feature for everybody at once; its kind never changes.' })
  updateEntitlementFeature(
    @Arg('input', () => UpdateEntitlementFeatureInput) input: UpdateEntitlementFeatureInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementFeature> {
    return updateFeature(ctx, input);
  }

  @Access(FEATURE_WRITERS)
  @Mutation(() => EntitlementFeature, { description: 'Takes a feature from everybody; its key stays taken. Again: nothing changes.' })
  archiveEntitlementFeature(
    @Rule({ maxLength: MAX_ASKED }) @Arg('key', () => String) key: string,
    @Ctx() ctx: Context,
  ): Promise<EntitlementFeature> {
    return archiveFeature(ctx, key);
  }
}
