import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { DeadLetterConflict, discardDeadLetter, replayDeadLetter } from '../../../events/dead-letters.js';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Connection } from '../../../runtime/request/paging.js';
import type { ReferenceLoader } from '../../../runtime/service.js';
import { EventConsumer } from '../entities/consumer.js';
import { ConsumerDeadLetter, ConsumerDeadLetterConnection, DeadLetterReplay } from '../entities/dead-letter.js';
import { PlatformEvent } from '../entities/platform-event.js';
import { OPERATORS, READERS } from '../entities/enums.js';
import { ConsumerDeadLettersArgs } from '../inputs/lists.js';
import { DiscardConsumerDeadLetterInput, ReplayConsumerDeadLetterInput, ReplayConsumerDeadLettersInput } from '../inputs/operations.js';
import { consumerOf } from '../queries/consumer-rows.js';
import { inFrontOf, letterOf, listDeadLetters, replayFronts } from '../commands/dead-letter-rows.js';
import { eventOf } from '../queries/log-rows.js';

export const deadLetterReferences: ReferenceLoader = async (ctx, references) =>
  mayAccess(ruleOf(READERS), ctx.caller) ? Promise.all(references.map(({ id }) => letterOf(ctx, String(id)))) : references.map(() => null);

/** Changes a letter and shows it as it then is. @throws Problem not_found, or conflict naming the one in front. */
async function change(ctx: Context, id: string, work: () => Promise<unknown>): Promise<ConsumerDeadLetter> {
  if (!isUuid(id) || !(await ctx.sql('select 1 from events.dead_letter where id = $1', [id])).length)
    fail('not_found', 'There is no such dead letter');
  await work().catch(error => {
    throw error instanceof DeadLetterConflict ? conflict(error) : error;
  });
  return (await letterOf(ctx, id))!;
}

function conflict({ message }: DeadLetterConflict): Error {
  return fail('conflict', message);
}

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

  @Access(READERS)
  @FieldResolver(() => EventConsumer)
  async consumer(@Root() { consumerName }: ConsumerDeadLetter, @Ctx() ctx: Context): Promise<EventConsumer> {
    return (await consumerOf(ctx, consumerName))!;
  }

  @Access(READERS)
  @FieldResolver(() => PlatformEvent, { nullable: true, description: 'Null when the log no longer has it.' })
  event(@Root() { eventId }: ConsumerDeadLetter, @Ctx() ctx: Context): Promise<PlatformEvent | null> {
    return eventOf(ctx, eventId);
  }

  @Access(READERS)
  @FieldResolver(() => ConsumerDeadLetter, { nullable: true, description: 'The open one of its key that must be settled first.' })
  blockedBehind(@Root() letter: ConsumerDeadLetter, @Ctx() ctx: Context): Promise<ConsumerDeadLetter | null> {
    return inFrontOf(ctx, letter);
  }

  @Access(OPERATORS)
  @Mutation(() => ConsumerDeadLetter, { description: 'Tries a dead letter again, and after it what is parked behind it.' })
  replayConsumerDeadLetter(
    @Arg('input', () => ReplayConsumerDeadLetterInput) { id, reason }: ReplayConsumerDeadLetterInput,
    @Ctx() ctx: Context,
  ): Promise<ConsumerDeadLetter> {
    ctx.audit('dead_letter.replayed', id, { ...(reason && { reason }) });
    return change(ctx, id, () => replayDeadLetter(ctx.sql, id, ctx.now()));
  }

  @Access(OPERATORS)
  @Mutation(() => ConsumerDeadLetter, { description: 'Gives a dead letter up; its key goes on with the next event.' })
  discardConsumerDeadLetter(
    @Arg('input', () => DiscardConsumerDeadLetterInput) { id, reason }: DiscardConsumerDeadLetterInput,
    @Ctx() ctx: Context,
  ): Promise<ConsumerDeadLetter> {
    ctx.audit('dead_letter.discarded', id, { reason });
    return change(ctx, id, () => discardDeadLetter(ctx.sql, id, reason, actorOf(ctx.caller), ctx.now()));
  }

  @Access(OPERATORS)
  @Mutation(() => DeadLetterReplay, { description: "Tries a consumer's dead letters again, each key from its first one." })
  async replayConsumerDeadLetters(
    @Arg('input', () => ReplayConsumerDeadLettersInput) input: ReplayConsumerDeadLettersInput,
    @Ctx() ctx: Context,
  ): Promise<DeadLetterReplay> {
    const { consumer, reason = null, type = null, note } = input;
    if (!(await consumerOf(ctx, consumer))) invalid('/consumer', 'is not a consumer');
    const replayed = await replayFronts(ctx, consumer, reason, type);
    ctx.audit('dead_letters.replayed', consumer, { ...replayed, reason, type, ...(note && { note }) });
    return replayed;
  }
}
