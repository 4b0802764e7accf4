import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { deliveriesAsyncApi, unifiedAsyncApi } from '../../../events/asyncapi.js';
import { CATALOGUE } from '../../../events/catalogue.js';
import type { EventDefinition } from '../../../events/define.js';
import { exampleOf, jsonSchemaOf } from '../../../events/json-schema.js';
import { Access, checkAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject, SafeInt } from '../../../runtime/schema/scalars.js';
import type { ReferenceLoader } from '../../../runtime/service.js';
import { EventConsumer } from '../entities/consumer.js';
import { EventType, EventTypeConnection } from '../entities/event-type.js';
import { AsyncApiView, READERS } from '../entities/enums.js';
import { EventTypesArgs } from '../inputs/lists.js';
import { consumersOfType } from '../queries/consumer-rows.js';
import { usageOf } from '../queries/event-type-rows.js';
import { isOperator } from '../queries/log-rows.js';

const ANYBODY = { service: '*', user: '*', staff: '*' } as const;

const DEFINITIONS: readonly EventDefinition[] = [...CATALOGUE.values()].sort((a, b) => (a.name < b.name ? -1 : 1));

function shown(event: EventDefinition): EventType {
  const { name, owner, emitters, when, user, scope, sensitive, revision, deprecated } = event;
  return {
    name,
    owner,
    emitters: [owner, ...emitters.filter(slug => slug !== owner)],
    description: when,
    userRule: user,
    scope,
    sensitive,
    revision,
    jsonSchema: jsonSchemaOf(event),
    example: exampleOf(event),
    deprecatedAt: deprecated ? new Date(deprecated.at) : null,
    sunsetAt: deprecated ? new Date(deprecated.sunset) : null,
    replacedBy: deprecated?.replacedBy ?? null,
  };
}

function matches({ name, when, owner, scope, deprecated }: EventDefinition, wanted: EventTypesArgs): boolean {
  const is = <T>(want: T | null | undefined, has: T): boolean => want == null || want === has;
  return (
    is(wanted.owner, owner) &&
    is(wanted.scope, scope) &&
    is(wanted.subscribable, scope !== null) &&
    is(wanted.deprecated, deprecated !== undefined) &&
    (wanted.q == null || `${name} ${when}`.toLowerCase().includes(wanted.q.toLowerCase()))
  );
}

export const eventTypeOf = (name: string): EventType | null => {
  const event = CATALOGUE.get(name);
  return event ? shown(event) : null;
};

export const eventTypeReferences: ReferenceLoader = async (_ctx, references) => references.map(({ name }) => eventTypeOf(String(name)));

@Resolver(() => EventType)
export class EventTypeResolver {
  @Access(ANYBODY)
  @Query(() => EventTypeConnection, { description: 'Event types by name.' })
  eventTypes(@Args(() => EventTypesArgs) args: EventTypesArgs): Connection<EventType> {
    const after = args.after ? String(decodeCursor(args.after, 1)[0]) : '';
    const found = DEFINITIONS.filter(event => event.name > after && matches(event, args)).slice(0, args.first + 1);
    return toConnection(found.map(shown), args.first, type => [type.name]);
  }

  @Access(ANYBODY)
  @Query(() => EventType, { nullable: true })
  eventType(@Arg('name', () => String) name: string): EventType | null {
    return eventTypeOf(name);
  }

  @Access(ANYBODY)
  @FieldResolver(() => DateTime, { nullable: true, description: 'Null also for who is no bus operator.' })
  async lastEmittedAt(@Root() { name }: EventType, @Ctx() ctx: Context): Promise<Date | null> {
    return isOperator(ctx) ? ((await usageOf(ctx, name)).lastEmittedAt ?? null) : null;
  }

  @Access(ANYBODY)
  @FieldResolver(() => SafeInt, {
    nullable: true,
    description: 'Events of the last 24 hours by the system clock; null for who is no bus operator.',
  })
  async count24h(@Root() { name }: EventType, @Ctx() ctx: Context): Promise<number | null> {
    return isOperator(ctx) ? (await usageOf(ctx, name)).count24h : null;
  }

  @Access(ANYBODY)
  @Query(() => JSONObject, { description: 'AsyncAPI 3 document: what webhooks deliver, or, for bus operators, the whole bus.' })
  asyncApi(
    @Arg('view', () => AsyncApiView, { nullable: true }) view: AsyncApiView | null | undefined,
    @Ctx() ctx: Context,
  ): Readonly<Record<string, unknown>> {
    if (view !== 'bus') return deliveriesAsyncApi(CATALOGUE.values());
    checkAccess(ruleOf(READERS), ctx.caller);
    return unifiedAsyncApi(CATALOGUE.values());
  }

  @Access(READERS)
  @FieldResolver(() => [EventConsumer], { description: 'Registered for it.' })
  consumers(@Root() { name }: EventType, @Ctx() ctx: Context): Promise<EventConsumer[]> {
    return consumersOfType(ctx, name);
  }
}
