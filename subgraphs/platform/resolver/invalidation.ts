import { brandCacheInvalidated } from '../../../events/catalogue/platform.js';
import type { Context } from '../../../runtime/context.js';

export type CacheKey = 'brand' | 'domains' | 'theme' | 'config' | 'flags' | 'legal';

/** Locks in the order of ids, so that two changes at once do not deadlock; the lock makes `version` grow in commit order. */
const NEXT_VERSIONS = `
  with locked as (select id from platform.brand where status = 'active' order by id for update)
  update platform.brand b set cache_version = b.cache_version + 1 from locked where b.id = locked.id returning b.id, b.cache_version as version`;

/**
 * Tells that something of every active brand changed: one event per brand, and after the commit a hint to every process, which
 * need not wait for the relay. Source: platform 5, rule 1.
 */
export async function invalidateActiveBrands(ctx: Context, keys: CacheKey[]): Promise<void> {
  const rows = await ctx.sql<{ id: string; version: number }>(NEXT_VERSIONS);
  for (const { id, version } of rows)
    ctx.emit(brandCacheInvalidated, { brand_id: id, keys, version }, { subject: `brand:${id}`, brandId: id });
  ctx.afterCommit(() => ctx.host.transport.hint('cache', 'platform', { keys }));
}
