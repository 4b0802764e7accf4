import { writeAudit } from '../../../runtime/data/audit.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { seesAll } from '../entities/access.js';
import { FeatureVector } from '../entities/features.js';
import type { Values } from '../rules/values.js';

/** What a vector is sealed as, so that one entity's cannot be opened as another's. */
export const sealedAs = (entityType: string, entityId: string, set: string): string => `feature_vector:${entityType}:${entityId}:${set}`;

/** A vector as stored; the sealed bytes in base64. */
export interface StoredVector {
  feature_set: string;
  version: number;
  sealed: string;
  as_of: string;
}

export interface FreshFeatures {
  /** `set.key` to value. */
  values: Values;
  versions: Record<string, { version: number; as_of: string }>;
}

export const openValues = (ctx: Context, entityType: string, entityId: string, set: string, sealed: Buffer): Values =>
  JSON.parse(ctx.host.sealer.open(Buffer.from(sealed), sealedAs(entityType, entityId, set))) as Values;

/** SQL of an entity's vectors that are not older than their set allows; older ones are served as missing. */
export const FRESH_VECTORS = (schema: string, given: { type: string; id: string; now: string }): string => `
select v.feature_set, v.version, encode(v.sealed, 'base64') as sealed, to_char(v.as_of at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as as_of
from ${schema}.feature_vector v join ${schema}.feature_set s on s.key = v.feature_set
where v.entity_type = ${given.type} and v.entity_id = ${given.id}::uuid and v.as_of >= ${given.now}::timestamptz - make_interval(hours => s.max_age_hours)
order by v.feature_set`;

export function openFeatures(ctx: Context, entityType: string, entityId: string, vectors: readonly StoredVector[]): FreshFeatures {
  const entries = vectors.flatMap(({ feature_set: set, sealed }) =>
    Object.entries(openValues(ctx, entityType, entityId, set, Buffer.from(sealed, 'base64'))).map(
      ([key, value]) => [`${set}.${key}`, value] as const,
    ),
  );
  return {
    values: Object.fromEntries(entries),
    versions: Object.fromEntries(vectors.map(row => [row.feature_set, { version: row.version, as_of: row.as_of }])),
  };
}

/** An entity's vector of a feature set, or null. A reader who sees all of it leaves an audit row. */
export async function vectorOf(ctx: Context, entityType: string, entity: string, featureSet: string): Promise<FeatureVector | null> {
  const vector = await findRow(ctx, FeatureVector, { entityType, entity: entity.toLowerCase(), featureSet });
  if (!vector || !seesAll(ctx)) return vector;
  const row = { action: 'feature_vector.read', target: vector.id, details: {} };
  await writeAudit(ctx, [row]);
  return vector;
}
