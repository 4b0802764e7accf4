import { brandCacheInvalidated } from '../../../events/catalogue/platform.js';
import type { Context } from '../../../runtime/request/context.js';

export type CacheKey = 'brand' | 'domains' | 'theme' | 'config' | 'flags' | 'legal';

/**
 * `$1`: ids, null for all active brands. Locks in the order of ids, so that two changes at once do not deadlock; the lock makes
 * `version` grow in commit order.
 */
const NEXT_VERSIONS = `
  with locked as (
    select id from platform.brand where case when $1::uuid[] is null then status = 'active' else id = any ($1) end order by id for update)
  update platform.brand b set cache_version = b.cache_version + 1 from locked where b.id = locked.id returning b.id, b.cache_version as version`;

/**
 * Tells that something of brands changed (null: of every active one): one event per brand, and after the commit a hint to every
 * process, which need not wait for the relay. Source: platform 5, rule 1.
 */
export async function invalidateBrands(ctx: Context, brandIds: readonly string[] | null, keys: CacheKey[]): Promise<void> {
  await ctx.em.flush(); // a brand of this transaction must be there to be counted
  const rows = await ctx.sql<{ id: string; version: number }>(NEXT_VERSIONS, [brandIds]);
  for (const { id, version } of rows)
    ctx.emit(brandCacheInvalidated, { brand_id: id, keys, version }, { subject: `brand:${id}`, brandId: id });
  ctx.afterCommit(() => ctx.host.transport.hint('cache', 'platform', { keys }));
}

export const invalidateActiveBrands = (ctx: Context, keys: CacheKey[]): Promise<void> => invalidateBrands(ctx, null, keys);
