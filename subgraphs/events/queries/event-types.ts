import { deliveriesAsyncApi, unifiedAsyncApi } from '../../../events/asyncapi.js';
import { CATALOGUE } from '../../../events/catalogue.js';
import type { EventDefinition } from '../../../events/define.js';
import { firstIdAt } from '../../../events/envelope.js';
import { exampleOf, jsonSchemaOf } from '../../../events/json-schema.js';
import { checkAccess, ruleOf } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { READERS, type AsyncApiView } from '../entities/enums.js';
import type { EventType } from '../entities/event-type.js';
import type { EventTypesArgs } from '../inputs/lists.js';
import { instantOrNull } from './conditions.js';
import { isOperator } from './log.js';

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

/** A type by name; null for one that is not declared. */
export const eventTypeOf = (name: string): EventType | null => {
  const event = CATALOGUE.get(name);
  return event ? shown(event) : null;
};

/** Event types by name. */
export function listEventTypes(args: EventTypesArgs): Connection<EventType> {
  const after = args.after ? String(decodeCursor(args.after, 1)[0]) : '';
  const found = DEFINITIONS.filter(event => event.name > after && matches(event, args)).slice(0, args.first + 1);
  return toConnection(found.map(shown), args.first, type => [type.name]);
}

/** AsyncAPI 3 document: what webhooks deliver, or, for bus operators, the whole bus. @throws Problem insufficient_scope, forbidden. */
export function asyncApiOf(ctx: Context, view: AsyncApiView | null | undefined): Readonly<Record<string, unknown>> {
  if (view !== 'bus') return deliveriesAsyncApi(CATALOGUE.values());
  checkAccess(ruleOf(READERS), ctx.caller);
  return unifiedAsyncApi(CATALOGUE.values());
}

/** How much a type is used. */
export interface TypeUsage {
  lastEmittedAt: Date | null;
  count24h: number;
}

/** Two index reads per type; ids are made in time order, so the day's partitions suffice for the count. */
const USAGE = `
select t.name, l.at, d.events from unnest($1::text[]) t(name)
left join lateral (select o.occurred_at as at from events.outbox o where o.type = t.name order by o.seq desc limit 1) l on true
cross join lateral (select count(*)::float8 as events from events.outbox o where o.type = t.name and o.id >= $2::uuid) d`;

/** All types of a request in one statement; null for who is no bus operator. */
export async function usageOf(ctx: Context, type: string): Promise<TypeUsage | null> {
  if (!isOperator(ctx)) return null;
  const usage = await ctx.load('events.type_usage', type, async types => {
    const rows = await ctx.sql<{ name: string; at: string | null; events: number }>(USAGE, [types, firstIdAt(Date.now() - DAY_MS)]);
    const found = new Map(rows.map(({ name, at, events }) => [name, { lastEmittedAt: instantOrNull(at), count24h: events }]));
    return types.map(one => found.get(one) ?? null);
  });
  return usage ?? { lastEmittedAt: null, count24h: 0 };
}
