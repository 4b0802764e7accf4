import { newId } from '../../../runtime/data/ids.js';
import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { FeatureSet, FeatureVector } from '../entities/features.js';
import type { PutFeatureVectorInput } from '../inputs/policy.js';
import { isErased, lockEntity } from '../queries/entity-lock.js';
import { sealedAs } from '../queries/features.js';
import { isAhead } from '../queries/settings.js';
import { valueViolations } from '../rules/schemas.js';
import type { Values } from '../rules/values.js';

export interface NewVector {
  entityType: string;
  entityId: string;
  set: string;
  version: number;
  values: Values;
  asOf: Date;
  sourceEventId: string | null;
}

/** Stores a vector, unless a newer one is there. Answers whether it was stored. */
export async function storeVector(ctx: Context, vector: NewVector): Promise<boolean> {
  const { entityType, entityId, set, version, values, asOf, sourceEventId } = vector;
  const rows = await ctx.sql(
    `insert into ${ctx.schema}.feature_vector as v (id, entity_type, entity_id, feature_set, version, sealed, as_of, source_event_id) values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (entity_type, entity_id, feature_set) do update set version = excluded.version, sealed = excluded.sealed, as_of = excluded.as_of, source_event_id = excluded.source_event_id
     where v.as_of <= excluded.as_of returning 1`,
    [
      newId(),
      entityType,
      entityId,
      set,
      version,
      ctx.host.sealer.seal(JSON.stringify(values), sealedAs(entityType, entityId, set)),
      asOf.toISOString(),
      sourceEventId,
    ],
  );
  return rows.length > 0;
}

/** @throws Problem not_found for no such set or an erased entity, invalid_request, conflict for a vector that is older than the stored one. */
export async function putVector(ctx: Context, input: PutFeatureVectorInput): Promise<FeatureVector> {
  const { entityType, featureSet: key, asOf, sourceEventId = null } = input;
  const entityId = input.entityId.toLowerCase();
  const { schema, version } = await requireRow(ctx, FeatureSet, { key }, 'There is no such feature set');
  const ahead = isAhead(ctx, asOf) ? [{ pointer: '/input/asOf', message: 'lies ahead' }] : [];
  requireValid([...valueViolations(schema, input.values, '/input/values'), ...ahead]);
  await lockEntity(ctx, entityId);
  if (await isErased(ctx, entityId)) fail('not_found', 'Not found');
  const values = input.values as Values;
  const isStored = await storeVector(ctx, { entityType, entityId, set: key, version, values, asOf, sourceEventId });
  if (!isStored) fail('conflict', 'A newer vector is stored', { reason: 'older_as_of' });
  const vector = await ctx.em.findOneOrFail(FeatureVector, { entityType, entity: entityId, featureSet: key }, { refresh: true });
  ctx.audit('feature_vector.stored', vector.id, { feature_set: key, version });
  return vector;
}
