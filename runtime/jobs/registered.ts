import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Sql } from '../../events/outbox.js';
import { schemaOf, type Slug } from '../../events/slugs.js';
import { scheduleColumns, SETTING_COLUMNS } from './register.js';
import { settingsOf, type JobQueueDefinition, type JobScheduleDefinition, type QueueSettings } from './queue.js';

/** What a service declares for the engine. */
export interface Declared {
  slug: Slug;
  queues: readonly JobQueueDefinition[];
  schedules: readonly JobScheduleDefinition[];
}

type Row = Readonly<Record<string, unknown>>;

/** The queues and schedules of code as they are registered, by their names. */
interface Registered {
  queues: Readonly<Record<string, Row>>;
  schedules: Readonly<Record<string, Row>>;
}

const REGISTERED = `
select (select coalesce(json_object_agg(q.name, to_json(q)), '{}') from jobs.queue_definition q join pgboss.queue e on e.name = q.name
    where q.service = any($1)) as queues,
  (select coalesce(json_object_agg(s.key, to_json(s)), '{}') from jobs.schedule s where s.source = 'code' and split_part(s.key, '.', 1) = any($1)) as schedules`;

/** As it comes back from `jsonb`. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function isQueue(queue: JobQueueDefinition, row: Row | undefined): boolean {
  if (!row || row.title !== queue.title) return false;
  const [settings, overridden] = [settingsOf(queue), row.overridden as string[]];
  const isSet = ([key, column]: [string, string]): boolean =>
    overridden.includes(column) || row[column] === settings[key as keyof QueueSettings];
  return Object.entries(SETTING_COLUMNS).every(isSet) && isDeepStrictEqual(row.payload_schema, asJson(z.toJSONSchema(queue.payload)));
}

const isSchedule = (one: JobScheduleDefinition, row: Row | undefined): boolean =>
  row !== undefined && Object.entries(scheduleColumns(one)).every(([column, value]) => isDeepStrictEqual(row[column], asJson(value)));

function isRegistered({ slug, queues, schedules }: Declared, there: Registered): boolean {
  const ofCode = Object.keys(there.schedules).filter(key => key.split('.')[0] === schemaOf(slug));
  return (
    ofCode.length === schedules.length &&
    queues.every(queue => isQueue(queue, there.queues[queue.name])) &&
    schedules.every(one => isSchedule(one, there.schedules[one.key]))
  );
}

/** The services of which something is not registered as they declare it: at most starts none, which one statement tells. */
export async function unregistered<Service extends Declared>(sql: Sql, services: readonly Service[]): Promise<Service[]> {
  const [there] = await sql<Registered>(REGISTERED, [services.map(({ slug }) => schemaOf(slug))]);
  return services.filter(service => !isRegistered(service, there!));
}
