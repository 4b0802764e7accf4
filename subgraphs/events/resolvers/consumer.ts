import { Arg, Args, Ctx, FieldResolver, Float, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import type { Depth } from '../../../events/transport/port.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { Connection } from '../../../runtime/request/paging.js';
import type { ReferenceLoader } from '../../../runtime/service.js';
import { DateTime, SafeInt } from '../../../runtime/schema/scalars.js';
import { move } from '../../../runtime/request/states.js';
import { EventConsumer, EventConsumerConnection } from '../entities/consumer.js';
import { OPERATORS, READERS, type ConsumerStatus } from '../entities/enums.js';
import { EventConsumersArgs } from '../inputs/lists.js';
import {
  AttachEventConsumerInput,
  DetachEventConsumerInput,
  PauseEventConsumerInput,
  ResumeEventConsumerInput,
} from '../inputs/operations.js';
import { CONSUMER_STATES, type ConsumerTrigger } from '../rules.js';
import { attach, detach } from '../commands/attachment.js';
import { consumerOf, listConsumers, lockConsumer } from '../queries/consumer-rows.js';

export const consumerReferences: ReferenceLoader = async (ctx, references) =>
  mayAccess(ruleOf(READERS), ctx.caller)
    ? Promise.all(references.map(({ name }) => consumerOf(ctx, String(name))))
    : references.map(() => null);

/** Three fields, one look at the queue. */
const depthOf = async (ctx: Context, name: string): Promise<Depth> =>
  (await ctx.load('events.depth', name, names => Promise.all(names.map(one => ctx.host.transport.depth(one)))))!;

/** Every process that has the consumer follows within two seconds. @throws Problem not_found, conflict. */
async function moveConsumer(ctx: Context, name: string, trigger: 'pause' | 'resume', reason: string | null): Promise<EventConsumer> {
  const consumer = (await lockConsumer(ctx, name)) ?? fail('not_found', 'There is no such consumer');
  const status = move<ConsumerStatus, ConsumerTrigger>(CONSUMER_STATES, 'consumer', consumer.status, trigger);
  const version = consumer.version + 1;
  const pausedReason = trigger === 'pause' ? reason : null;
  await ctx.sql('update events.consumer set status = $2, paused_reason = $3, version = $4 where name = $1', [
    name,
    status,
    pausedReason,
    version,
  ]);
  ctx.audit(`consumer.${trigger}d`, name, { status, ...(reason && { reason }) });
  return Object.assign(consumer, { status, pausedReason, version });
}

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

  @Access(READERS)
  @FieldResolver(() => SafeInt, { description: 'Events that wait or are in work.' })
  async depth(@Root() { name }: EventConsumer, @Ctx() ctx: Context): Promise<number> {
    const { ready, unacked } = await depthOf(ctx, name);
    return ready + unacked;
  }

  @Access(READERS)
  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When the oldest event that waits or is in work was emitted; null where there is none. Replays do not count.',
  })
  async oldestUnhandledAt(@Root() { name }: EventConsumer, @Ctx() ctx: Context): Promise<Date | null> {
    return (await depthOf(ctx, name)).oldestAt;
  }

  @Access(READERS)
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
    return moveConsumer(ctx, name, 'pause', reason ?? null);
  }

  @Access(OPERATORS)
  @Mutation(() => EventConsumer, { description: 'What waited is handled in order.' })
  resumeEventConsumer(
    @Arg('input', () => ResumeEventConsumerInput) { name, reason }: ResumeEventConsumerInput,
    @Ctx() ctx: Context,
  ): Promise<EventConsumer> {
    return moveConsumer(ctx, name, 'resume', reason ?? null);
  }

  @Access(OPERATORS)
  @OwnTransactions('what is detached stays detached')
  @Mutation(() => EventConsumer, { description: 'Its queues are removed; what it misses is sent from the log when it is attached again.' })
  async detachEventConsumer(
    @Arg('input', () => DetachEventConsumerInput) { name, reason }: DetachEventConsumerInput,
    @Ctx() ctx: Context,
  ): Promise<EventConsumer> {
    await detach(ctx, name, reason ?? null);
    return (await consumerOf(ctx, name))!;
  }

  @Access(OPERATORS)
  @OwnTransactions('only what was missed is sent')
  @Mutation(() => EventConsumer, { description: 'Sends what it has missed from the log, in order, then lets it take part again.' })
  async attachEventConsumer(
    @Arg('input', () => AttachEventConsumerInput) { name, reason }: AttachEventConsumerInput,
    @Ctx() ctx: Context,
  ): Promise<EventConsumer> {
    await attach(ctx, name, reason ?? null);
    return (await consumerOf(ctx, name))!;
  }
}
