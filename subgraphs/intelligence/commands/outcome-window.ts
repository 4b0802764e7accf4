import type { Context } from '../../../runtime/request/context.js';
import type { LoopDecision } from '../entities/decision.js';
import { DecisionStatus } from '../entities/enums.js';
import { openWindow, retryAt } from '../ports/analytics.js';

/** Attempts after which operators hear of a window that cannot be opened. */
const ALARM_AFTER = 8;

const WANTED = (schema: string): string =>
  `insert into ${schema}.outcome_window (decision_id, metric, opened_at, next_attempt_at) values ($1, $2, $3, $3) on conflict do nothing`;

/** A decision that waits for an outcome of analytics has its window opened by a timer; the answer does not wait for it. */
export async function openOutcomeWindow(ctx: Context, { id, outcomeMetric, status }: LoopDecision): Promise<void> {
  if (outcomeMetric === 'retest' || status !== DecisionStatus.PENDING) return;
  await ctx.em.flush();
  await ctx.sql(WANTED(ctx.schema), [id, outcomeMetric, ctx.now().toISOString()]);
}

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

const TRIED = (schema: string): string =>
  `update ${schema}.outcome_window set attempts = attempts + 1, next_attempt_at = $2 where decision_id = $1`;

/** Takes the window that is due; it counts as tried before analytics is asked, so that a crash repeats nothing in a hurry. */
async function claimWindow(ctx: Context, at: Date): Promise<WindowRow | undefined> {
  const [row] = await ctx.sql<WindowRow>(NEXT_WINDOW(ctx.schema), [at.toISOString()]);
  if (!row) return undefined;
  await ctx.sql(TRIED(ctx.schema), [row.decision_id, retryAt(at, row.attempts).toISOString()]);
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

/** Opens the window that is due, after the commit. */
export async function openDueWindow(ctx: Context, at: Date): Promise<void> {
  const row = await claimWindow(ctx, at);
  if (row) ctx.afterCommit(() => openClaimed(ctx, row));
}
