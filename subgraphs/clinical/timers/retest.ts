import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { sweepTimer } from '../../../runtime/time/schedule.js';
import { sweepSlot } from '../commands/retest-sweep.js';
import { settingsOf } from '../ports/retest-settings.js';

const onGrid = (ctx: Context) => sweepTimer({ name: 'retest.sweep', everyMs: settingsOf(ctx).sweepEveryMs, run: sweepSlot });

/** Every 6 hours on the UTC grid, whatever the number of processes. Source: spec 1, Re-test cycle 2; clinical 7.1.2. */
export const retestTimer: Timer<Context> = {
  name: 'retest.sweep',
  next: ctx => onGrid(ctx).next(ctx),
  run: (ctx, slot) => onGrid(ctx).run(ctx, slot),
  claimed: {
    claim: (ctx, slot) => onGrid(ctx).claimed!.claim(ctx, slot),
    keep: (ctx, slot) => onGrid(ctx).claimed!.keep(ctx, slot),
    finish: (ctx, slot) => onGrid(ctx).claimed!.finish(ctx, slot),
    running: ctx => onGrid(ctx).claimed!.running!(ctx),
  },
};
