import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { cancelReplay, createReplay } from '../commands/replays.js';
import { EventConsumer } from '../entities/consumer.js';
import { OPERATORS, READERS, SHOWN } from '../entities/enums.js';
import { CreateEventReplayResult, EventReplay, EventReplayConnection, type EventReplayPreview } from '../entities/replay.js';
import { CancelEventReplayInput, CreateEventReplayInput, EventReplaysArgs } from '../inputs/replay.js';
import { consumerOf } from '../queries/consumers.js';
import { listReplays, replayOf } from '../queries/replays.js';

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

  @Access(SHOWN)
  @FieldResolver(() => EventConsumer, { nullable: true })
  consumer(@Root() { consumerName }: EventReplay, @Ctx() ctx: Context): Promise<EventConsumer | null> {
    return consumerOf(ctx, consumerName);
  }

  @Access(OPERATORS)
  @Mutation(() => CreateEventReplayResult, { description: 'Sends events of the log to one consumer again, at most 1,000,000.' })
  createEventReplay(
    @Arg('input', () => CreateEventReplayInput) input: CreateEventReplayInput,
    @Ctx() ctx: Context,
  ): Promise<EventReplay | EventReplayPreview> {
    return createReplay(ctx, input);
  }

  @Access(OPERATORS)
  @Mutation(() => EventReplay, { description: 'What was sent stays sent.' })
  cancelEventReplay(@Arg('input', () => CancelEventReplayInput) input: CancelEventReplayInput, @Ctx() ctx: Context): Promise<EventReplay> {
    return cancelReplay(ctx, input);
  }
}
