import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { countReplay, MAX_REPLAYED } from '../../../events/replay-log.js';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import type { Connection } from '../../../runtime/request/paging.js';
import type { ReferenceLoader } from '../../../runtime/service.js';
import { move } from '../../../runtime/request/states.js';
import { EventConsumer } from '../entities/consumer.js';
import { CreateEventReplayResult, EventReplay, EventReplayConnection, EventReplayPreview } from '../entities/replay.js';
import { OPERATORS, READERS, type EventReplayStatus } from '../entities/enums.js';
import { CancelEventReplayInput, CreateEventReplayInput, EventReplaysArgs } from '../inputs/replay.js';
import { REPLAY_STATES } from '../rules.js';
import { consumerOf } from '../queries/consumer-rows.js';
import { checkReplay, storedFilter, type ReplayedConsumer } from '../queries/replay-input.js';
import { insertReplay, listReplays, lockReplay, openReplayOf, replayOf } from '../commands/replay-rows.js';

export const replayReferences: ReferenceLoader = async (ctx, references) =>
  mayAccess(ruleOf(READERS), ctx.caller) ? Promise.all(references.map(({ id }) => replayOf(ctx, String(id)))) : references.map(() => null);

/** Locked, so that of two who ask at once one is refused. */
async function consumerFor(ctx: Context, name: string): Promise<ReplayedConsumer | null> {
  const [row] = await ctx.sql<ReplayedConsumer>('select status, on_replay as "onReplay" from events.consumer where name = $1 for update', [
    name,
  ]);
  return row ?? null;
}

/** @throws Problem conflict. */
async function requireFree(ctx: Context, name: string, { status }: ReplayedConsumer): Promise<void> {
  if (status === 'detached') fail('conflict', 'The consumer is detached; attaching it again sends what it has missed');
  const open = await openReplayOf(ctx, name);
  if (open) fail('conflict', `The replay ${open} of this consumer is not finished`);
}

@Resolver(() => EventReplay)
export class ReplayResolver {
  @Access(READERS)
  @Query(() => EventReplayConnection, { description: 'Replays, newest first.' })
  eventReplays(@Args(() => EventReplaysArgs) args: EventReplaysArgs, @Ctx() ctx: Context): Promise<Connection<EventReplay>> {
    return listReplays(ctx, args);
  }

  @Access(READERS)
  @Query(() => EventReplay, { nullable: true })
  eventReplay(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<EventReplay | null> {
    return replayOf(ctx, id);
  }

  @Access(READERS)
  @FieldResolver(() => EventConsumer, { nullable: true })
  consumer(@Root() { consumerName }: EventReplay, @Ctx() ctx: Context): Promise<EventConsumer | null> {
    return consumerOf(ctx, consumerName);
  }

  @Access(OPERATORS)
  @Mutation(() => CreateEventReplayResult, { description: 'Sends events of the log to one consumer again, at most 1,000,000.' })
  async createEventReplay(
    @Arg('input', () => CreateEventReplayInput) input: CreateEventReplayInput,
    @Ctx() ctx: Context,
  ): Promise<EventReplay | EventReplayPreview> {
    const consumer = await consumerFor(ctx, input.consumer);
    await checkReplay(ctx, input, consumer);
    await requireFree(ctx, input.consumer, consumer!);
    const filter = storedFilter(ctx, input.filter);
    const total = await countReplay(ctx.sql, filter);
    if (total > MAX_REPLAYED) invalid('/input/filter', `lets more than ${MAX_REPLAYED} events through`);
    if (input.dryRun) return preview(ctx, input.consumer, total);
    const replay = await insertReplay(ctx, input, filter, total);
    ctx.audit('replay.created', replay.id, { consumer: input.consumer, mode: replay.mode, total, reason: input.reason });
    return replay;
  }

  @Access(OPERATORS)
  @Mutation(() => EventReplay, { description: 'What was sent stays sent.' })
  async cancelEventReplay(
    @Arg('input', () => CancelEventReplayInput) { id, reason }: CancelEventReplayInput,
    @Ctx() ctx: Context,
  ): Promise<EventReplay> {
    const replay = (await lockReplay(ctx, id)) ?? fail('not_found', 'There is no such replay');
    const status = move<EventReplayStatus, 'cancel'>(REPLAY_STATES, 'replay', replay.status, 'cancel');
    const finishedAt = ctx.now();
    await ctx.sql('update events.replay set status = $2, finished_at = $3 where id = $1', [id, status, finishedAt.toISOString()]);
    ctx.audit('replay.cancelled', id, { consumer: replay.consumerName, sent: replay.sent, ...(reason && { reason }) });
    return Object.assign(replay, { status, finishedAt });
  }
}

function preview(ctx: Context, consumer: string, total: number): EventReplayPreview {
  ctx.status(200);
  ctx.audit('replay.previewed', consumer, { total });
  return Object.assign(new EventReplayPreview(), { total });
}
