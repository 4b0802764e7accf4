import { Arg, Args, Ctx, FieldResolver, Float, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { attachConsumer, detachConsumer, pauseConsumer, resumeConsumer } from '../commands/consumers.js';
import { EventConsumer, EventConsumerConnection } from '../entities/consumer.js';
import { OPERATORS, READERS, SHOWN } from '../entities/enums.js';
import { EventConsumersArgs } from '../inputs/lists.js';
import {
  AttachEventConsumerInput,
  DetachEventConsumerInput,
  PauseEventConsumerInput,
  ResumeEventConsumerInput,
} from '../inputs/operations.js';
import { consumerOf, depthOf, listConsumers } from '../queries/consumers.js';

@Resolver(() => EventConsumer)
export class ConsumerResolver {
  @Access(READERS)
  @Query(() => EventConsumerConnection, { description: 'Consumers by name.' })
  eventConsumers(@Args(() => EventConsumersArgs) args: EventConsumersArgs, @Ctx() ctx: Context): Promise<Connection<EventConsumer>> {
    return listConsumers(ctx, args);
  }

  @Access(READERS)
  @Query(() => EventConsumer, { nullable: true })
  eventConsumer(@Arg('name', () => String) name: string, @Ctx() ctx: Context): Promise<EventConsumer | null> {
    return consumerOf(ctx, name);
  }

  @Access(SHOWN)
  @FieldResolver(() => SafeInt, { description: 'Events that wait or are in work.' })
  async depth(@Root() { name }: EventConsumer, @Ctx() ctx: Context): Promise<number> {
    const { ready, unacked } = await depthOf(ctx, name);
    return ready + unacked;
  }

  @Access(SHOWN)
  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When the oldest event that waits or is in work was emitted; null where there is none. Replays do not count.',
  })
  async oldestUnhandledAt(@Root() { name }: EventConsumer, @Ctx() ctx: Context): Promise<Date | null> {
    return (await depthOf(ctx, name)).oldestAt;
  }

  @Access(SHOWN)
  @FieldResolver(() => Float, { description: 'Age of the oldest event that waits or is in work.' })
  async lagSeconds(@Root() { name }: EventConsumer, @Ctx() ctx: Context): Promise<number> {
    const { oldestAt } = await depthOf(ctx, name);
    return oldestAt ? Math.max(0, Date.now() - oldestAt.getTime()) / 1000 : 0;
  }

  @Access(OPERATORS)
  @Mutation(() => EventConsumer, { description: 'Its events wait in its queue.' })
  pauseEventConsumer(
    @Arg('input', () => PauseEventConsumerInput) { name, reason }: PauseEventConsumerInput,
    @Ctx() ctx: Context,
  ): Promise<EventConsumer> {
    return pauseConsumer(ctx, name, reason ?? null);
  }

  @Access(OPERATORS)
  @Mutation(() => EventConsumer, { description: 'What waited is handled in order.' })
  resumeEventConsumer(
    @Arg('input', () => ResumeEventConsumerInput) { name, reason }: ResumeEventConsumerInput,
    @Ctx() ctx: Context,
  ): Promise<EventConsumer> {
    return resumeConsumer(ctx, name, reason ?? null);
  }

  @Access(OPERATORS)
  @OwnTransactions('what is detached stays detached')
  @Mutation(() => EventConsumer, { description: 'Its queues are removed; what it misses is sent from the log when it is attached again.' })
  detachEventConsumer(
    @Arg('input', () => DetachEventConsumerInput) { name, reason }: DetachEventConsumerInput,
    @Ctx() ctx: Context,
  ): Promise<EventConsumer> {
    return detachConsumer(ctx, name, reason ?? null);
  }

  @Access(OPERATORS)
  @OwnTransactions('only what was missed is sent')
  @Mutation(() => EventConsumer, { description: 'Sends what it has missed from the log, in order, then lets it take part again.' })
  attachEventConsumer(
    @Arg('input', () => AttachEventConsumerInput) { name, reason }: AttachEventConsumerInput,
    @Ctx() ctx: Context,
  ): Promise<EventConsumer> {
    return attachConsumer(ctx, name, reason ?? null);
  }
}
