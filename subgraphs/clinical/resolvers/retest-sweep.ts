import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { type Connection, page, PageArgs } from '../../../runtime/request/paging.js';
import { sweepRetestCycles } from '../commands/retest-sweep.js';
import { SweepRun, SweepRunConnection } from '../entities/sweep-run.js';

@Resolver()
export class SweepResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:retest' })
  @OwnTransactions('a sweep finds only what no sweep has done')
  @Mutation(() => SweepRun, { description: 'Runs the sweep now: records, expires and prompts what is due.' })
  sweepRetestCycles(@Ctx() ctx: Context): Promise<SweepRun> {
    return sweepRetestCycles(ctx);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read' })
  @Query(() => SweepRunConnection, { description: 'Sweeps, newest first.' })
  retestSweeps(@Args(() => PageArgs) paging: PageArgs, @Ctx() ctx: Context): Promise<Connection<SweepRun>> {
    return page(ctx.em, SweepRun, {}, paging, { time: 'startedAt' });
  }
}
