import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Values } from '../rules/values.js';

const sealedAs = (entityType: string, entityId: string, set: string): string => `feature_vector:${entityType}:${entityId}:${set}`;

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
