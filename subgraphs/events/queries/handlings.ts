import { timeOfId } from '../../../events/envelope.js';
import type { Context } from '../../../runtime/request/context.js';
import { ConsumerHandling } from '../entities/handling.js';
import type { PlatformEvent } from '../entities/platform-event.js';
import { DeadLetterStatus } from '../entities/enums.js';
import { handlingOf, type KnownOfConsumer } from '../rules.js';
import { instantOrNull } from './conditions.js';

interface Subscriber {
  name: string;
  types: string[];
  since: string;
}

interface Letter {
  consumer: string;
  eventId: string;
  status: DeadLetterStatus;
  at: string;
}

interface Handled {
  consumer: string;
  eventId: string;
  at: string;
}

const SUBSCRIBERS = 'select name, types, least(created_at, start_at) as since from events.consumer where types && $1::text[] order by name';

/** The last dead letter of an event at a consumer. */
const LETTERS = `select distinct on (consumer, event_id) consumer, event_id as "eventId", status, coalesce(resolved_at, last_failed_at) as at
  from events.dead_letter where event_id = any($1::uuid[]) order by consumer, event_id, first_failed_at desc`;

const HANDLED = 'select consumer, event_id as "eventId", handled_at as at from events.handled($1::uuid[])';

/** What became of an event at each consumer of its type; all events of a request in three statements. */
export async function handlingsOf(ctx: Context, event: PlatformEvent): Promise<ConsumerHandling[]> {
  const found = await ctx.load('events.handling', event, events => load(ctx, events));
  return found ?? [];
}

async function load(ctx: Context, events: readonly PlatformEvent[]): Promise<ConsumerHandling[][]> {
  const ids = events.map(({ id }) => id);
  const subscribers = await ctx.sql<Subscriber>(SUBSCRIBERS, [[...new Set(events.map(({ type }) => type))]]);
  const letters = byEvent(await ctx.sql<Letter>(LETTERS, [ids]));
  const handled = byEvent(await ctx.sql<Handled>(HANDLED, [ids]));
  return events.map(event => {
    const of = <Row extends { consumer: string }>(rows: Map<string, Row[]>, name: string): Row | undefined =>
      rows.get(event.id)?.find(({ consumer }) => consumer === name);
    const names = new Set([
      ...subscribers.filter(({ types }) => types.includes(event.type)).map(({ name }) => name),
      ...[...(letters.get(event.id) ?? []), ...(handled.get(event.id) ?? [])].map(({ consumer }) => consumer),
    ]);
    return [...names].sort().map(name => {
      const since = subscribers.find(one => one.name === name)?.since ?? null;
      const [letter, done] = [of(letters, name), of(handled, name)];
      return shown(name, event, {
        letter: letter && { ...letter, at: new Date(letter.at) },
        handledAt: instantOrNull(done?.at ?? null),
        since: instantOrNull(since),
      });
    });
  });
}

function shown(consumerName: string, event: PlatformEvent, known: KnownOfConsumer): ConsumerHandling {
  const made = new Date(timeOfId(event.id));
  return Object.assign(new ConsumerHandling(), {
    consumerName,
    ...handlingOf({ made, publishedAt: event.publishedAt }, known, new Date()),
  });
}

function byEvent<Row extends { eventId: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const found = new Map<string, Row[]>();
  for (const row of rows) found.set(row.eventId, [...(found.get(row.eventId) ?? []), row]);
  return found;
}
