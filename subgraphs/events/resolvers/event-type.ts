import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject, SafeInt } from '../../../runtime/schema/scalars.js';
import { EventConsumer } from '../entities/consumer.js';
import { AsyncApiView, READERS } from '../entities/enums.js';
import { EventType, EventTypeConnection } from '../entities/event-type.js';
import { EventTypesArgs } from '../inputs/lists.js';
import { consumersOfType } from '../queries/consumers.js';
import { asyncApiOf, eventTypeOf, listEventTypes, usageOf } from '../queries/event-types.js';

const ANYBODY = { service: '*', user: '*', staff: '*' } as const;

@Resolver(() => EventType)
export class EventTypeResolver {
  @Access(ANYBODY)
  @Query(() => EventTypeConnection, { description: 'Event types by name.' })
  eventTypes(@Args(() => EventTypesArgs) args: EventTypesArgs): Connection<EventType> {
    return listEventTypes(args);
  }

  @Access(ANYBODY)
  @Query(() => EventType, { nullable: true })
  eventType(@Arg('name', () => String) name: string): EventType | null {
    return eventTypeOf(name);
  }

  @Access(ANYBODY)
  @FieldResolver(() => DateTime, { nullable: true, description: 'Null also for who is no bus operator.' })
  async lastEmittedAt(@Root() { name }: EventType, @Ctx() ctx: Context): Promise<Date | null> {
    return (await usageOf(ctx, name))?.lastEmittedAt ?? null;
  }

  @Access(ANYBODY)
  @FieldResolver(() => SafeInt, {
    nullable: true,
    description: 'Events of the last 24 hours by the system clock; null for who is no bus operator.',
  })
  async count24h(@Root() { name }: EventType, @Ctx() ctx: Context): Promise<number | null> {
    return (await usageOf(ctx, name))?.count24h ?? null;
  }

  @Access(ANYBODY)
  @Query(() => JSONObject, { description: 'AsyncAPI 3 document: what webhooks deliver, or, for bus operators, the whole bus.' })
  asyncApi(
    @Arg('view', () => AsyncApiView, { nullable: true }) view: AsyncApiView | null | undefined,
    @Ctx() ctx: Context,
  ): Readonly<Record<string, unknown>> {
    return asyncApiOf(ctx, view);
  }

  @Access(READERS)
  @FieldResolver(() => [EventConsumer], { description: 'Registered for it.' })
  consumers(@Root() { name }: EventType, @Ctx() ctx: Context): Promise<EventConsumer[]> {
    return consumersOfType(ctx, name);
  }
}
