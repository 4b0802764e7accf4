import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { fetchDuePage } from './commands/feature-refresh.js';
import { openDueWindow } from './commands/outcome-window.js';
import { checkAlarms, nextAlarm } from './commands/watchdog.js';

const dueAt =
  (table: string) =>
  async (ctx: Context): Promise<Date | null> => {
    const [row] = await ctx.sql<{ ms: number | null }>(
      `select (extract(epoch from min(next_attempt_at)) * 1000)::float8 as ms from ${ctx.schema}.${table}`,
    );
    return row?.ms == null ? null : new Date(row.ms);
  };

/** Opens outcome windows at analytics from the retry table. Source: intelligence 4.2. */
export const outcomeWindows: Timer<Context> = { name: 'outcome.windows', next: dueAt('outcome_window'), run: openDueWindow };

/** Pulls refreshed feature sets from analytics in pages. Source: intelligence 5. */
export const featureRefreshes: Timer<Context> = { name: 'feature.refreshes', next: dueAt('feature_refresh'), run: fetchDuePage };

/** Tells a dead loop from a converged one, outside the tick; looks every 5 minutes. Source: spec 1, Alarms; intelligence 7.1. */
export const watchdog: Timer<Context> = { name: 'loop.watchdog', everySeconds: 300, next: nextAlarm, run: checkAlarms };
