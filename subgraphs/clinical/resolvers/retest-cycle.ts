import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { cycleFacts, startRetestCycle } from '../commands/retest-cycle.js';
import { RetestCycle, RetestCycleConnection } from '../entities/retest-cycle.js';
import { visibleRows } from '../entities/value-access.js';
import { MyRetestCyclesArgs, RetestCyclesArgs, StartRetestCycleInput } from '../inputs/retest-cycle.js';
import { readRow } from '../queries/read-audit.js';
import { findCycles, listCycles } from '../queries/retest-cycle.js';
import { RETEST_FLAG } from '../rules/retest-cycle.js';

@Resolver(() => RetestCycle)
export class RetestCycleResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:retest', flag: RETEST_FLAG })
  @Prepare(cycleFacts)
  @Mutation(() => RetestCycle, {
    description: 'Captures a baseline of a running intervention. Again for the same patient, marker and draw: the stored cycle, unchanged.',
  })
  startRetestCycle(@Arg('input', () => StartRetestCycleInput) input: StartRetestCycleInput, @Ctx() ctx: Context): Promise<RetestCycle> {
    return startRetestCycle(ctx, input, cycleFacts.of(ctx));
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['comms', 'intelligence'] })
  @Query(() => RetestCycleConnection, { description: 'Re-test cycles, newest first. Values are null for callers without access to them.' })
  retestCycles(@Args(() => RetestCyclesArgs) args: RetestCyclesArgs, @Ctx() ctx: Context): Promise<Connection<RetestCycle>> {
    return findCycles(ctx, args);
  }

  @Access({ user: 'read:my_outcomes' })
  @Query(() => RetestCycleConnection, { description: 'Own re-test cycles, newest first. Values need also read:biomarkers.' })
  myRetestCycles(@Args(() => MyRetestCyclesArgs) args: MyRetestCyclesArgs, @Ctx() ctx: Context): Promise<Connection<RetestCycle>> {
    return listCycles(ctx, ctx.caller.userId!, args);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:my_outcomes' })
  @Query(() => RetestCycle, { nullable: true, description: 'One re-test cycle.' })
  retestCycle(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<RetestCycle | null> {
    return readRow(ctx, 'retest_cycles', RetestCycle, { id, ...visibleRows(ctx.caller) });
  }
}
