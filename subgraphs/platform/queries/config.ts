import { prepared } from '../../../events/prepared.js';
import type { Context } from '../../../runtime/request/context.js';
import type { ConfigSource, EffectiveConfig } from '../entities/config.js';
import type { EffectiveConfigArgs } from '../inputs/config.js';
import { effective } from '../rules/config.js';
import { readerOf } from './snapshot.js';

const CURRENT = `
  select distinct on (key, brand_id) key, brand_id as "brandId", value, version from platform.config_value
  where key = any ($1) and (brand_id is null or $2::uuid is null or brand_id = $2) order by key, brand_id, version desc`;

type CurrentRow = { key: string; brandId: string | null; value: unknown; version: number };

/** Current values of keys; of one brand and the global ones, or of all brands for null. */
export const currentOf = (ctx: Context, keys: readonly string[], brandId: string | null): Promise<CurrentRow[]> =>
  ctx.sql<CurrentRow>(CURRENT, [keys, brandId]);

/** Of each readable key the current values, as {@link currentOf}; one row without value for a key that has none. */
const IN_FORCE = prepared(`
  select k.key, k.schema, v."brandId", v.value, v.version from platform.config_key k left join lateral (
    select distinct on (brand_id) brand_id as "brandId", value, version from platform.config_value c
    where c.key = k.key and (c.brand_id is null or $3::uuid is null or c.brand_id = $3) order by brand_id, version desc
  ) v on true where ($1::text is null or $1 = any (k.readers)) and ($2::text is null or starts_with(k.key, $2)) order by k.key`);

type InForceRow = CurrentRow & { schema: Record<string, unknown> };

/** Values in force of the keys of which the calling service is a reader, by key. */
export async function effectiveConfig(ctx: Context, { brandId, prefix }: EffectiveConfigArgs): Promise<EffectiveConfig[]> {
  const brand = brandId?.toLowerCase() ?? null;
  const rows = await ctx.sql<InForceRow>(IN_FORCE, [readerOf(ctx), prefix ?? null, brand]);
  return [...Map.groupBy(rows, row => row.key)].map(([key, own]) => {
    const values = own.filter(row => row.version !== null);
    const { value, version, source } = effective(own[0]!.schema, values, brand);
    return { key, value, version, source: source as ConfigSource };
  });
}
