import { systemClock, type Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { checkSafeViews } from '../commands/safe-views.js';

const LAST = 'select extract(epoch from max(checked_at)) * 1000 as ms from platform.safe_view';

/**
 * Compares safe views with the marks of columns at the first start and then once a day. The database's catalogue is of the real
 * world, so the day is of the wall clock: a manual clock that moves by years does not compare a thousand times. Source: platform, rule 11.
 */
export const safeViewsTimer: Timer<Context> = {
  name: 'safe_views',
  everySeconds: 60,
  async next(ctx) {
    const [row] = await ctx.sql<{ ms: string | null }>(LAST);
    const age = systemClock.now().getTime() - Number(row?.ms ?? 0);
    return age >= DAY_MS ? new Date(0) : null; // due by any clock
  },
  run: checkSafeViews,
};
