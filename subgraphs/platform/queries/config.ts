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

const READABLE = `
  select key, schema from platform.config_key where ($1::text is null or $1 = any (readers)) and ($2::text is null or starts_with(key, $2)) order by key`;

/** Values in force of the keys of which the calling service is a reader, by key. */
export async function effectiveConfig(ctx: Context, { brandId, prefix }: EffectiveConfigArgs): Promise<EffectiveConfig[]> {
  const keys = await ctx.sql<{ key: string; schema: Record<string, unknown> }>(READABLE, [readerOf(ctx), prefix ?? null]);
  const brand = brandId?.toLowerCase() ?? null;
  const names = keys.map(({ key }) => key);
  const rows = await currentOf(ctx, names, brand);
  return keys.map(({ key, schema }) => {
    const own = rows.filter(row => row.key === key);
    const { value, version, source } = effective(schema, own, brand);
    return { key, value, version, source: source as ConfigSource };
  });
}
