import type { Context } from '../../../runtime/context.js';
import { keyedHash } from './keyed-hash.js';
import { DAY_MS } from './settings.js';

/** A tombstone is kept for as long as a decision can wait for its outcome. Source: intelligence 7.3.20. */
export const TOMBSTONE_DAYS = 400;

/**
 * Whoever writes about an entity holds its lock shared, an erasure alone: the second to commit sees what the first did. With `key` the lock of
 * a replay key follows in the same statement.
 */
export async function lockEntity(
  ctx: Context,
  entityId: string,
  mode: 'shared' | 'alone' = 'shared',
  key: string | null = null,
): Promise<void> {
  const lock = mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  const replay = key === null ? '' : ', pg_advisory_xact_lock(hashtextextended($2, 29))';
  await ctx.sql(`select ${lock}(hashtextextended($1, 23))${replay}`, [`intelligence:${entityId}`, ...(key === null ? [] : [key])]);
}

/** Whether the entity was erased in the last 400 days; ask after the lock is held. */
export async function isErased(ctx: Context, entityId: string): Promise<boolean> {
  const since = new Date(ctx.now().getTime() - TOMBSTONE_DAYS * DAY_MS).toISOString();
  const hash = await keyedHash(ctx, `entity:${entityId}`);
  const rows = await ctx.sql(`select 1 from ${ctx.schema}.entity_tombstone where entity_hash = $1 and erased_at > $2`, [hash, since]);
  return rows.length > 0;
}
