import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { discardLetter, replayLetter, replayLetters } from '../commands/dead-letters.js';
import { EventConsumer } from '../entities/consumer.js';
import { ConsumerDeadLetter, ConsumerDeadLetterConnection, DeadLetterReplay } from '../entities/dead-letter.js';
import { OPERATORS, READERS, SHOWN } from '../entities/enums.js';
import { PlatformEvent } from '../entities/platform-event.js';
import { ConsumerDeadLettersArgs } from '../inputs/lists.js';
import { DiscardConsumerDeadLetterInput, ReplayConsumerDeadLetterInput, ReplayConsumerDeadLettersInput } from '../inputs/operations.js';
import { consumerOf } from '../queries/consumers.js';
import { blockerOf, letterOf, listDeadLetters } from '../queries/dead-letters.js';
import { eventOf } from '../queries/log.js';

@Resolver(() => ConsumerDeadLetter)
export class DeadLetterResolver {
  @Access(READERS)
  @Query(() => ConsumerDeadLetterConnection, { description: 'Dead letters of the consumers, oldest first.' })
  consumerDeadLetters(
    @Args(() => ConsumerDeadLettersArgs) args: ConsumerDeadLettersArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<ConsumerDeadLetter>> {
    return listDeadLetters(ctx, args);
  }

  @Access(READERS)
  @Query(() => ConsumerDeadLetter, { nullable: true })
  consumerDeadLetter(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<ConsumerDeadLetter | null> {
    return letterOf(ctx, id);
  }

  @Access(SHOWN)
  @FieldResolver(() => EventConsumer)
  async consumer(@Root() { consumerName }: ConsumerDeadLetter, @Ctx() ctx: Context): Promise<EventConsumer> {
    return (await consumerOf(ctx, consumerName))!;
  }

  @Access(SHOWN)
  @FieldResolver(() => PlatformEvent, { nullable: true, description: 'Null when the log no longer has it.' })
  event(@Root() { eventId }: ConsumerDeadLetter, @Ctx() ctx: Context): Promise<PlatformEvent | null> {
    return eventOf(ctx, eventId);
  }

  @Access(SHOWN)
  @FieldResolver(() => ConsumerDeadLetter, { nullable: true, description: 'The open one of its key that must be settled first.' })
  blockedBehind(@Root() letter: ConsumerDeadLetter, @Ctx() ctx: Context): Promise<ConsumerDeadLetter | null> {
    return blockerOf(ctx, letter);
  }

  @Access(OPERATORS)
  @Mutation(() => ConsumerDeadLetter, { description: 'Tries a dead letter again, and after it what is parked behind it.' })
  replayConsumerDeadLetter(
    @Arg('input', () => ReplayConsumerDeadLetterInput) input: ReplayConsumerDeadLetterInput,
    @Ctx() ctx: Context,
  ): Promise<ConsumerDeadLetter> {
    return replayLetter(ctx, input);
  }

  @Access(OPERATORS)
  @Mutation(() => ConsumerDeadLetter, { description: 'Gives a dead letter up; its key goes on with the next event.' })
  discardConsumerDeadLetter(
    @Arg('input', () => DiscardConsumerDeadLetterInput) input: DiscardConsumerDeadLetterInput,
    @Ctx() ctx: Context,
  ): Promise<ConsumerDeadLetter> {
    return discardLetter(ctx, input);
  }

  @Access(OPERATORS)
  @Mutation(() => DeadLetterReplay, { description: "Tries a consumer's dead letters again, each key from its first one." })
  replayConsumerDeadLetters(
    @Arg('input', () => ReplayConsumerDeadLettersInput) input: ReplayConsumerDeadLettersInput,
    @Ctx() ctx: Context,
  ): Promise<DeadLetterReplay> {
    return replayLetters(ctx, input);
  }
}
