import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { PageArgs, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { EventConsumer } from '../entities/consumer.js';
import { READERS } from '../entities/enums.js';
import { ConsumerHandling, EventTrace } from '../entities/handling.js';
import { PlatformEvent, PlatformEventConnection } from '../entities/platform-event.js';
import { consumerOf } from '../queries/consumers.js';
import { handlingsOf } from '../queries/handlings.js';
import { effectsOf, eventOf } from '../queries/log.js';
import { traceOf } from '../queries/traces.js';

@Resolver(() => PlatformEvent)
export class TraceResolver {
  @Access(READERS)
  @FieldResolver(() => PlatformEvent, { nullable: true, description: 'The event whose handler emitted this one.' })
  async causedBy(@Root() { causationId }: PlatformEvent, @Ctx() ctx: Context): Promise<PlatformEvent | null> {
    return causationId === null ? null : eventOf(ctx, causationId);
  }

  @Access(READERS)
  @FieldResolver(() => PlatformEventConnection, { description: 'What the handlers of this event emitted, in the order of the log.' })
  async effects(
    @Root() { id }: PlatformEvent,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<PlatformEvent>> {
    return toConnection(await effectsOf(ctx, id, args), args.first, event => [event.sequence]);
  }

  @Access(READERS)
  @FieldResolver(() => [ConsumerHandling], { description: 'What became of it at each consumer of its type.' })
  handling(@Root() event: PlatformEvent, @Ctx() ctx: Context): Promise<ConsumerHandling[]> {
    return handlingsOf(ctx, event);
  }

  @Access(READERS)
  @FieldResolver(() => EventTrace, { description: 'Its causes and all that followed from it.' })
  trace(@Root() { id }: PlatformEvent, @Ctx() ctx: Context): Promise<EventTrace> {
    return traceOf(ctx, id);
  }
}

@Resolver(() => ConsumerHandling)
export class HandlingResolver {
  @Access(READERS)
  @FieldResolver(() => EventConsumer, { nullable: true, description: 'Null for a consumer that is gone.' })
  consumer(@Root() { consumerName }: ConsumerHandling, @Ctx() ctx: Context): Promise<EventConsumer | null> {
    return consumerOf(ctx, consumerName);
  }
}
