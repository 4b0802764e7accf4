import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';

/** The grace of a re-test and a week: a decision waits at least as long as its cycle. Source: intelligence 5. */
const RETEST_GRACE_DAYS = 37;
/** Analytics decides up to an hour after its window; a day is on the safe side. */
const ANALYTICS_GRACE_DAYS = 1;
/** No decision waits longer. */
const LONGEST_DAYS = 400;

/** Moves deadlines on, never back, at most to 400 days after the decision. */
const EXTEND = (schema: string, which: string): string => `
update ${schema}.decision set matures_at = greatest(matures_at, least($1::timestamptz, decided_at + interval '${LONGEST_DAYS} days'))
where status = 'pending' and ${which}`;

const OF_CODE = `entity_id = $2 and outcome_metric = 'retest' and outcome_codes @> array[$3::text]`;

const daysAfter = (instant: string, days: number): string => after(new Date(instant), days * DAY_MS).toISOString();

/** Decisions that wait for a re-test of a code wait as long as its cycle. */
export async function awaitCycle(ctx: Context, cycle: { entityId: string | null; code: string; dueAt: string }): Promise<void> {
  await ctx.sql(EXTEND(ctx.schema, OF_CODE), [daysAfter(cycle.dueAt, RETEST_GRACE_DAYS), cycle.entityId, cycle.code]);
}

/** A decision waits as long as its outcome window at analytics. */
export async function awaitWindow(ctx: Context, decisionId: string, maturesAt: string): Promise<void> {
  await ctx.sql(EXTEND(ctx.schema, 'id = $2'), [daysAfter(maturesAt, ANALYTICS_GRACE_DAYS), decisionId]);
}
