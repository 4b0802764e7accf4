import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { keyedHash } from '../ports/keyed-hash.js';

/** A tombstone is kept for as long as a decision can wait for its outcome. Source: intelligence 7.3.20. */
const TOMBSTONE_DAYS = 400;

/** SQL that takes an entity's lock until the transaction ends; the parameter is its `lockName`. */
export const ENTITY_LOCK = {
  shared: (parameter: string): string => `pg_advisory_xact_lock_shared(hashtextextended(${parameter}, 23))`,
  alone: (parameter: string): string => `pg_advisory_xact_lock(hashtextextended(${parameter}, 23))`,
};

export const lockName = (entityId: string): string => `intelligence:${entityId}`;

/** Whoever writes about an entity holds its lock shared, an erasure alone: the second to commit sees what the first did. */
export async function lockEntity(ctx: Context, entityId: string, mode: 'shared' | 'alone' = 'shared'): Promise<void> {
  await ctx.sql(`select ${ENTITY_LOCK[mode]('$1')}`, [lockName(entityId)]);
}

/** The hash by which a tombstone is found. */
export const entityHash = (ctx: Context, entityId: string): Promise<Buffer> => keyedHash(ctx, `entity:${entityId}`);

/** Tombstones that were set after this instant count. */
export const tombstonesSince = (ctx: Context): string => after(ctx.now(), -TOMBSTONE_DAYS * DAY_MS).toISOString();

/** Whether the entity was erased in the last 400 days; ask after the lock is held. */
export async function isErased(ctx: Context, entityId: string): Promise<boolean> {
  const rows = await ctx.sql(`select 1 from ${ctx.schema}.entity_tombstone where entity_hash = $1 and erased_at > $2`, [
    await entityHash(ctx, entityId),
    tombstonesSince(ctx),
  ]);
  return rows.length > 0;
}
