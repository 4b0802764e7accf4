import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { replayEvents } from '../commands/event-replay.js';
import { actInSandbox } from '../commands/sandbox.js';
import { SERVICES_ONLY, staffWith } from '../entities/access.js';
import { ReplayResult, SandboxActionResult } from '../entities/operations.js';
import { ProcessorEvent, ProcessorEventConnection } from '../entities/processor-event.js';
import { ProcessorEventsArgs, ReplayProcessorEventsInput, SandboxActionInput } from '../inputs/operations.js';

@Resolver(() => ProcessorEvent)
export class ProcessorEventResolver {
  @Access(staffWith('webhook:replay'))
  @Query(() => ProcessorEventConnection, { description: 'Calls of the processor, newest first.' })
  processorEvents(@Args(() => ProcessorEventsArgs) args: ProcessorEventsArgs, @Ctx() ctx: Context): Promise<Connection<ProcessorEvent>> {
    const { status, type, from, to, ...paging } = args;
    const receivedAt = { ...(from && { $gte: from }), ...(to && { $lt: to }) };
    const where = { ...(status && { status }), ...(type && { type }), ...((from || to) && { receivedAt }) };
    return page(ctx.em, ProcessorEvent, where, paging, { time: 'receivedAt' });
  }

  @Access(staffWith('webhook:replay'))
  @OwnTransactions('each event reads its object anew, so nothing happens twice')
  @Mutation(() => ReplayResult, { description: 'Handles kept calls of the processor again.' })
  replayProcessorEvents(
    @Arg('input', () => ReplayProcessorEventsInput) input: ReplayProcessorEventsInput,
    @Ctx() ctx: Context,
  ): Promise<ReplayResult> {
    return replayEvents(ctx.host, input, ctx);
  }

  @Access(SERVICES_ONLY)
  @OwnTransactions('the sandbox refuses what was done already')
  @Mutation(() => SandboxActionResult, { description: 'Plays customer, bank or processor; with the sandbox only.' })
  sandboxAction(@Arg('input', () => SandboxActionInput) input: SandboxActionInput, @Ctx() ctx: Context): Promise<SandboxActionResult> {
    return actInSandbox(ctx.host, input);
  }
}
