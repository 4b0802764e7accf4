import type { Context } from '../../../runtime/request/context.js';
import { after } from '../../../runtime/time/durations.js';
import { LAST_RETRY_MS, vectorPage, type VectorPage } from '../ports/analytics.js';
import { isErased, lockEntity } from '../queries/entity-lock.js';
import { valueViolations } from '../rules/schemas.js';
import { storeVector } from './features.js';

const WANTED = (schema: string): string => `
insert into ${schema}.feature_refresh (feature_set, version, requested_at, next_attempt_at) values ($1, $2, $3, $3) on conflict do nothing`;

/** Asks for a version of a feature set; one that is asked for already stays as it is. */
export async function requestRefresh(ctx: Context, featureSet: string, version: number): Promise<void> {
  await ctx.sql(WANTED(ctx.schema), [featureSet, version, ctx.now().toISOString()]);
}

interface RefreshRow {
  feature_set: string;
  version: number;
  cursor: string | null;
}

async function storePage(tx: Context, { feature_set: set, version }: RefreshRow, { nodes }: VectorPage): Promise<void> {
  const [known] = await tx.sql<{ schema: object }>(`select schema from ${tx.schema}.feature_set where key = $1`, [set]);
  for (const { entityId, values, asOf } of known ? nodes : []) {
    if (valueViolations(known!.schema, values, '').length) continue; // the set does not allow it: a raw value, perhaps
    await lockEntity(tx, entityId);
    if (!(await isErased(tx, entityId)))
      await storeVector(tx, { entityType: 'user', entityId, set, version, values, asOf: new Date(asOf), sourceEventId: null });
  }
}

const FETCHED = (schema: string): string => `delete from ${schema}.feature_refresh where feature_set = $1 and version = $2`;
const NEXT_PAGE = (schema: string): string =>
  `update ${schema}.feature_refresh set cursor = $3, next_attempt_at = requested_at where feature_set = $1 and version = $2`;

async function moveOn(
  tx: Context,
  { feature_set: set, version }: RefreshRow,
  { hasNextPage, endCursor }: VectorPage['pageInfo'],
): Promise<void> {
  if (hasNextPage) await tx.sql(NEXT_PAGE(tx.schema), [set, version, endCursor]);
  else await tx.sql(FETCHED(tx.schema), [set, version]);
}

/** One page, then the next; the cursor is kept, so that after a failure the next attempt goes on from there. */
async function fetchPage(ctx: Context, row: RefreshRow): Promise<void> {
  try {
    const page = await vectorPage(ctx, row.feature_set, row.version, row.cursor);
    await ctx.host.transaction(async tx => {
      await storePage(tx, row, page);
      await moveOn(tx, row, page.pageInfo);
    });
  } catch (error) {
    ctx.log.warn({ feature_set: row.feature_set, err: (error as Error).name }, 'a feature set could not be fetched; it is tried again');
  }
}

const NEXT_REFRESH = (schema: string): string => `
select feature_set, version, cursor from ${schema}.feature_refresh where next_attempt_at <= $1 order by next_attempt_at limit 1 for update skip locked`;

const TRIED = (schema: string): string =>
  `update ${schema}.feature_refresh set next_attempt_at = $3 where feature_set = $1 and version = $2`;

/** Fetches a page of the feature set that is due, after the commit; it counts as tried before analytics is asked. */
export async function fetchDuePage(ctx: Context, at: Date): Promise<void> {
  const [row] = await ctx.sql<RefreshRow>(NEXT_REFRESH(ctx.schema), [at.toISOString()]);
  if (!row) return;
  await ctx.sql(TRIED(ctx.schema), [row.feature_set, row.version, after(at, LAST_RETRY_MS).toISOString()]);
  ctx.afterCommit(() => fetchPage(ctx, row));
}
