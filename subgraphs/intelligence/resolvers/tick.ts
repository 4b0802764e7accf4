import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { runLoopTick } from '../commands/tick.js';
import { LOOP_RUNNERS } from '../entities/access.js';
import { LoopTick, LoopTickConnection } from '../entities/loop.js';

@Resolver()
export class TickResolver {
  @Access(LOOP_RUNNERS)
  @OwnTransactions('the tick is kept with the key and answered again')
  @Mutation(() => LoopTick, { description: 'Runs Monitor, Analyze and Propose, in this order; one tick at a time.' })
  runLoopTick(@Ctx() ctx: Context): Promise<LoopTick> {
    return runLoopTick(ctx);
  }

  @Access(LOOP_RUNNERS)
  @Query(() => LoopTickConnection, { description: 'Ticks, newest first.' })
  loopTicks(@Args(() => PageArgs) paging: PageArgs, @Ctx() ctx: Context): Promise<Connection<LoopTick>> {
    return page(ctx.em, LoopTick, {}, paging, { time: 'startedAt' });
  }

  @Access(LOOP_RUNNERS)
  @Query(() => LoopTick, { nullable: true })
  loopTick(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LoopTick | null> {
    return findRow(ctx, LoopTick, { id });
  }
}
