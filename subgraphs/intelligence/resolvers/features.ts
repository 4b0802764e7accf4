import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { putVector } from '../commands/features.js';
import { READERS, seesAll } from '../entities/access.js';
import { FeatureVector } from '../entities/features.js';
import { PutFeatureVectorInput } from '../inputs/policy.js';
import { openValues, vectorOf } from '../queries/features.js';
import type { Values } from '../rules/values.js';

@Resolver(() => FeatureVector)
export class FeatureResolver {
  @Access(READERS)
  @Query(() => FeatureVector, { nullable: true, description: "An entity's vector of a feature set." })
  featureVector(
    @Arg('entityType', () => String) entityType: string,
    @Arg('entityId', () => ID) entityId: string,
    @Arg('featureSet', () => String) featureSet: string,
    @Ctx() ctx: Context,
  ): Promise<FeatureVector | null> {
    return vectorOf(ctx, entityType, entityId, featureSet);
  }

  @Access(READERS)
  @Mutation(() => FeatureVector, { description: 'Stores a vector; an older one than what is there is refused.' })
  putFeatureVector(@Arg('input', () => PutFeatureVectorInput) input: PutFeatureVectorInput, @Ctx() ctx: Context): Promise<FeatureVector> {
    return putVector(ctx, input);
  }

  @Access(READERS)
  @FieldResolver(() => ID, { nullable: true, description: 'Null for other services.' })
  entityId(@Root() { entity }: FeatureVector, @Ctx() ctx: Context): string | null {
    return seesAll(ctx) ? entity : null;
  }

  @Access(READERS)
  @FieldResolver(() => JSONObject, { nullable: true, description: 'Null for other services.' })
  values(@Root() vector: FeatureVector, @Ctx() ctx: Context): Values | null {
    return seesAll(ctx) ? openValues(ctx, vector.entityType, vector.entity, vector.featureSet, vector.sealed) : null;
  }
}
