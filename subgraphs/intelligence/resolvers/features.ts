import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { writeAudit } from '../../../runtime/data/audit.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { FeatureSet, FeatureVector } from '../entities/features.js';
import { READERS } from '../entities/enums.js';
import { PutFeatureVectorInput } from '../inputs/policy.js';
import { valueViolations } from '../rules/schemas.js';
import type { Values } from '../rules/values.js';
import { isErased, lockEntity } from '../queries/entity-lock.js';
import { openValues, storeVector } from '../commands/feature-store.js';
import { isAhead } from '../queries/settings.js';

/** Internal clients of other services read what the safe view shows. */
const seesAll = ({ caller }: Context): boolean => caller.serviceSlug === null || caller.serviceSlug === 'intelligence';

@Resolver(() => FeatureVector)
export class FeatureResolver {
  @Access(READERS)
  @Query(() => FeatureVector, { nullable: true, description: "An entity's vector of a feature set." })
  async featureVector(
    @Arg('entityType', () => String) entityType: string,
    @Arg('entityId', () => ID) entityId: string,
    @Arg('featureSet', () => String) featureSet: string,
    @Ctx() ctx: Context,
  ): Promise<FeatureVector | null> {
    if (!isUuid(entityId)) return null;
    const vector = await ctx.em.findOne(FeatureVector, { entityType, entity: entityId.toLowerCase(), featureSet });
    if (vector && seesAll(ctx))
      await writeAudit(
        ctx.sql,
        ctx.schema,
        [{ action: 'feature_vector.read', target: vector.id, details: {} }],
        ctx.caller,
        ctx.request.id,
        ctx.now(),
      );
    return vector;
  }

  @Access(READERS)
  @Mutation(() => FeatureVector, { description: 'Stores a vector; an older one than what is there is refused.' })
  async putFeatureVector(
    @Arg('input', () => PutFeatureVectorInput) input: PutFeatureVectorInput,
    @Ctx() ctx: Context,
  ): Promise<FeatureVector> {
    const { entityType, featureSet: key, asOf, values, sourceEventId = null } = input;
    const entityId = input.entityId.toLowerCase();
    const set = (await ctx.em.findOne(FeatureSet, { key })) ?? fail('not_found', 'There is no such feature set');
    const ahead = isAhead(ctx, asOf) ? [{ pointer: '/input/asOf', message: 'lies ahead' }] : [];
    const errors = [...valueViolations(set.schema, values, '/input/values'), ...ahead];
    requireValid(errors);
    await lockEntity(ctx, entityId);
    if (await isErased(ctx, entityId)) fail('not_found', 'Not found');
    const isStored = await storeVector(ctx, {
      entityType,
      entityId,
      set: key,
      version: set.version,
      values: values as Values,
      asOf,
      sourceEventId,
    });
    if (!isStored) fail('conflict', 'A newer vector is stored', { reason: 'older_as_of' });
    const vector = await ctx.em.findOneOrFail(FeatureVector, { entityType, entity: entityId, featureSet: key }, { refresh: true });
    ctx.audit('feature_vector.stored', vector.id, { feature_set: key, version: set.version });
    return vector;
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
