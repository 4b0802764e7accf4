import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { openWindow, vectorPage, type VectorPage } from '../ports/analytics.js';
import { isErased, lockEntity } from '../queries/entity-lock.js';
import { storeVector } from './feature-store.js';
import { valueViolations } from '../rules/schemas.js';

const FIRST_RETRY_SECONDS = 60;
const LAST_RETRY_SECONDS = 6 * 3600;
const ALARM_AFTER = 8;

const retrySeconds = (attempts: number): number => Math.min(LAST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** attempts);

const dueAt =
  (table: string) =>
  async (ctx: Context): Promise<Date | null> => {
    const [row] = await ctx.sql<{ ms: number | null }>(
      `select (extract(epoch from min(next_attempt_at)) * 1000)::float8 as ms from ${ctx.schema}.${table}`,
    );
    return row?.ms == null ? null : new Date(row.ms);
  };

interface WindowRow {
  decision_id: string;
  metric: string;
  opened_at: string;
  attempts: number;
  entity_id: string;
}

const NEXT_WINDOW = (schema: string): string => `
select w.decision_id, w.metric, to_char(w.opened_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as opened_at, w.attempts, d.entity_id
from ${schema}.outcome_window w join ${schema}.decision d on d.id = w.decision_id where w.next_attempt_at <= $1 order by w.next_attempt_at limit 1 for update of w skip locked`;

/** Takes the window that is due; it counts as tried before analytics is asked, so that a crash repeats nothing in a hurry. */
async function claimWindow(ctx: Context, at: Date): Promise<WindowRow | undefined> {
  const [row] = await ctx.sql<WindowRow>(NEXT_WINDOW(ctx.schema), [at.toISOString()]);
  if (!row) return undefined;
  const next = new Date(at.getTime() + retrySeconds(row.attempts) * 1000).toISOString();
  await ctx.sql(`update ${ctx.schema}.outcome_window set attempts = attempts + 1, next_attempt_at = $2 where decision_id = $1`, [
    row.decision_id,
    next,
  ]);
  if (row.attempts + 1 === ALARM_AFTER)
    ctx.log.error({ decision: row.decision_id, attempts: ALARM_AFTER }, 'an outcome window cannot be opened');
  return row;
}

async function openClaimed(ctx: Context, row: WindowRow): Promise<void> {
  try {
    await openWindow(ctx, { decisionId: row.decision_id, userId: row.entity_id, metric: row.metric, openedAt: row.opened_at });
    await ctx.host.transaction(tx => tx.sql(`delete from ${tx.schema}.outcome_window where decision_id = $1`, [row.decision_id]));
  } catch (error) {
    ctx.log.warn({ decision: row.decision_id, err: (error as Error).name }, 'an outcome window could not be opened; it is tried again');
  }
}

/** Opens outcome windows at analytics from the retry table. Source: intelligence 4.2. */
export const outcomeWindows: Timer<Context> = {
  name: 'outcome.windows',
  next: dueAt('outcome_window'),
  async run(ctx, at) {
    const row = await claimWindow(ctx, at);
    if (row) ctx.afterCommit(() => openClaimed(ctx, row));
  },
};

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

/** One page, then the next; the place is kept, so that a failure goes on from there. */
async function fetchPage(ctx: Context, row: RefreshRow): Promise<void> {
  try {
    const page = await vectorPage(ctx, row.feature_set, row.version, row.cursor);
    await ctx.host.transaction(async tx => {
      await storePage(tx, row, page);
      const { hasNextPage, endCursor } = page.pageInfo;
      const key = [row.feature_set, row.version];
      if (!hasNextPage) await tx.sql(`delete from ${tx.schema}.feature_refresh where feature_set = $1 and version = $2`, key);
      else
        await tx.sql(
          `update ${tx.schema}.feature_refresh set cursor = $3, next_attempt_at = requested_at where feature_set = $1 and version = $2`,
          [...key, endCursor],
        );
    });
  } catch (error) {
    ctx.log.warn({ feature_set: row.feature_set, err: (error as Error).name }, 'a feature set could not be fetched; it is tried again');
  }
}

/** Pulls refreshed feature sets from analytics in pages. Source: intelligence 5. */
export const featureRefreshes: Timer<Context> = {
  name: 'feature.refreshes',
  next: dueAt('feature_refresh'),
  async run(ctx, at) {
    const [row] = await ctx.sql<RefreshRow>(
      `select feature_set, version, cursor from ${ctx.schema}.feature_refresh where next_attempt_at <= $1 order by next_attempt_at limit 1 for update skip locked`,
      [at.toISOString()],
    );
    if (!row) return;
    const next = new Date(at.getTime() + LAST_RETRY_SECONDS * 1000).toISOString();
    await ctx.sql(`update ${ctx.schema}.feature_refresh set next_attempt_at = $3 where feature_set = $1 and version = $2`, [
      row.feature_set,
      row.version,
      next,
    ]);
    ctx.afterCommit(() => fetchPage(ctx, row));
  },
};
