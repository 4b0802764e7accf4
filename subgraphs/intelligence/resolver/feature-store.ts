import type { Context } from '../../../runtime/context.js';
import { newId } from '../../../runtime/ids.js';
import type { Values } from '../rules/values.js';

const sealedAs = (entityType: string, entityId: string, set: string): string => `feature_vector:${entityType}:${entityId}:${set}`;

interface Row {
  feature_set: string;
  version: number;
  sealed: Buffer;
  as_of: string;
}

export interface FreshFeatures {
  /** `set.key` to value. */
  values: Values;
  versions: Record<string, { version: number; as_of: string }>;
}

export const openValues = (ctx: Context, entityType: string, entityId: string, set: string, sealed: Buffer): Values =>
  JSON.parse(ctx.host.sealer.open(Buffer.from(sealed), sealedAs(entityType, entityId, set))) as Values;

/** Features of an entity that are not older than their set allows; older ones are served as missing. */
export async function freshFeatures(ctx: Context, entityType: string, entityId: string): Promise<FreshFeatures> {
  const rows = await ctx.sql<Row>(
    `select v.feature_set, v.version, v.sealed, to_char(v.as_of at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as as_of
     from ${ctx.schema}.feature_vector v join ${ctx.schema}.feature_set s on s.key = v.feature_set
     where v.entity_type = $1 and v.entity_id = $2 and v.as_of >= $3::timestamptz - make_interval(hours => s.max_age_hours) order by v.feature_set`,
    [entityType, entityId, ctx.now().toISOString()],
  );
  const entries = rows.flatMap(({ feature_set: set, sealed }) =>
    Object.entries(openValues(ctx, entityType, entityId, set, sealed)).map(([key, value]) => [`${set}.${key}`, value] as const),
  );
  return {
    values: Object.fromEntries(entries),
    versions: Object.fromEntries(rows.map(row => [row.feature_set, { version: row.version, as_of: row.as_of }])),
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
