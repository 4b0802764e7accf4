import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { type Connection, page, PageArgs } from '../../../runtime/request/paging.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { sweepTimer } from '../../../runtime/time/schedule.js';
import { runSweep } from '../commands/sweep-run.js';
import { SweepRun, SweepRunConnection, SweepRunTrigger } from '../entities/sweep-run.js';
import { withSweepLock } from '../queries/sweep-lock.js';
import { settingsOf } from './retest-cycle.js';

/** A timer's sweep that finds another one running waits for it, ms between looks. */
const LOOK_AGAIN_MS = 250;
const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** A slot's sweep is never left out: it waits while a manual one runs. */
async function sweepSlot(ctx: Context): Promise<void> {
  const ran = () => withSweepLock(ctx.host, async () => (await runSweep(ctx, SweepRunTrigger.TIMER), true));
  while (!(await ran())) await pause(LOOK_AGAIN_MS);
}

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

@Resolver()
export class SweepResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:retest' })
  @OwnTransactions()
  @Mutation(() => SweepRun, { description: 'Runs the sweep now: records, expires and prompts what is due.' })
  async sweepRetestCycles(@Ctx() ctx: Context): Promise<SweepRun> {
    const run = await withSweepLock(ctx.host, () => runSweep(ctx, SweepRunTrigger.MANUAL));
    return run ?? fail('conflict', 'a sweep is running', { reason: 'sweep_running' });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read' })
  @Query(() => SweepRunConnection, { description: 'Sweeps, newest first.' })
  retestSweeps(@Args(() => PageArgs) paging: PageArgs, @Ctx() ctx: Context): Promise<Connection<SweepRun>> {
    return page(ctx.em, SweepRun, {}, paging, { time: 'startedAt' });
  }
}
