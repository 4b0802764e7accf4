import type { Context } from '../request/context.js';
import type { Timer } from './clock.js';
import { sweepTimer, type Sweep } from './schedule.js';

/**
 * A sweep whose slots without work are left out: its next one is the first on the grid that is not before what waits. A manual clock that
 * is moved by a year then runs the slots that matter only. @param earliest when something waits; null: nothing does.
 */
export function dueSweep(declared: Sweep, earliest: (ctx: Context) => Promise<Date | null>): Timer<Context> {
  const timer = sweepTimer(declared);
  const slotFor = (at: Date): number => Math.ceil(at.getTime() / declared.everyMs) * declared.everyMs;
  return {
    ...timer,
    async next(ctx) {
      const [slot, due] = [await timer.next(ctx), await earliest(ctx)];
      return slot && due && new Date(Math.max(slot.getTime(), slotFor(due)));
    },
  };
}
