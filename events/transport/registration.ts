import type pg from 'pg';
import type { Sql } from '../outbox.js';
import { headsOfLog, positionBefore } from '../log-position.js';
import type { ConsumerSpec, Partitions } from './port.js';

/** What was registered before; null for a consumer that is new. */
export interface Registered {
  types: readonly string[];
  partitions: Partitions;
  generation: number;
  /** It has no queues. */
  detached: boolean;
}

/** Of one that is registered like this and whose queues are whole, as at most starts: seen, and nothing else. */
const SEEN = `
update events.consumer c set last_seen_at = clock_timestamp()
where name = $1 and types = $2::text[] and partitions = $3 and generation = $4 and on_replay = $5 and status <> 'detached'
  and (select count(*) = $3 and bool_and(p.generation = $4) from events.consumer_partition p where p.consumer = name)
returning types, partitions, generation, false as detached`;

const REGISTERED = `select types, partitions, generation, status = 'detached' as detached from events.consumer where name = $1 for update`;

const REGISTER = `
insert into events.consumer as c (name, service, types, partitions, generation, on_replay, start_at, position)
values ($1, split_part($1, '.', 1), $2, $3, $4, $5, $6, $7)
on conflict (name) do update set types = excluded.types, partitions = excluded.partitions, generation = excluded.generation, on_replay = excluded.on_replay,
  last_seen_at = clock_timestamp(), version = c.version + (c.types <> excluded.types or c.generation <> excluded.generation)::int`;

const PARTITIONS = `
insert into events.consumer_partition (consumer, generation, partition) select $1, $2, p from generate_series(0, $3 - 1) p on conflict do nothing`;

/** Types that are new to the consumer begin here; those that it has left are forgotten. */
const START = `
with gone as (delete from events.consumer_start where consumer = $1 and type <> all ($2::text[]))
insert into events.consumer_start (consumer, type, places) select $1, t, $4 from unnest($3::text[]) t on conflict do nothing`;

/**
 * Registers a consumer: what it listens to and how its queues are cut.
 * @param keepOld whether the queues of an older generation must be emptied before the new one starts.
 * @throws Error when `partitions` changed without a new generation, or a newer generation is registered.
 */
export async function registerConsumer(pool: pg.Pool, spec: ConsumerSpec, keepOld: boolean): Promise<Registered | null> {
  const { name, types, partitions, generation, onReplay = 'dedupe' } = spec;
  const same = await pool.query<Registered>(SEEN, [name, [...types].sort(), partitions, generation, onReplay]);
  return same.rows[0] ?? registerAnew(pool, spec, keepOld);
}

async function registerAnew(pool: pg.Pool, spec: ConsumerSpec, keepOld: boolean): Promise<Registered | null> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const {
      rows: [before],
    } = await client.query<Registered>(REGISTERED, [spec.name]);
    if (before) checkGeneration(spec, before);
    await register(client, spec, before ?? null);
    if (!before?.detached) await cut(client, spec, keepOld);
    await client.query('commit');
    return before ?? null;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the connection may be gone; the first error is the one to tell
    throw error;
  } finally {
    client.release();
  }
}

/** A new consumer that wants the past is fed from the log before its queues are opened. */
async function register(client: pg.PoolClient, spec: ConsumerSpec, before: Registered | null): Promise<void> {
  const sql: Sql = async <Row>(text: string, params: readonly unknown[] = []) => (await client.query(text, [...params])).rows as Row[];
  const { name, types, partitions, generation, onReplay = 'dedupe' } = spec;
  const startAt = before ? null : (spec.startAt ?? null);
  const from = startAt ? await positionBefore(sql, new Date(startAt)) : await headsOfLog(sql);
  await sql(REGISTER, [name, [...types].sort(), partitions, generation, onReplay, startAt, startAt ? from : null]);
  await sql(START, [name, types, types.filter(type => !before?.types.includes(type)), from]);
}

async function cut(client: pg.PoolClient, { name, generation, partitions }: ConsumerSpec, keepOld: boolean): Promise<void> {
  const old = keepOld ? `update events.consumer_partition set state = 'draining'` : 'delete from events.consumer_partition';
  await client.query(`${old} where consumer = $1 and generation < $2`, [name, generation]);
  await client.query(PARTITIONS, [name, generation, partitions]);
}

function checkGeneration(spec: ConsumerSpec, { generation, partitions }: Registered): void {
  if (spec.generation < generation) throw new Error(`${spec.name} has generation ${generation} already; this is ${spec.generation}`);
  if (spec.generation === generation && spec.partitions !== partitions)
    throw new Error(`${spec.name} has ${partitions} partitions; raise its generation to change that`);
}

/** Every consumer that has queues. */
export async function registeredConsumers(pool: pg.Pool): Promise<ConsumerSpec[]> {
  const { rows } = await pool.query<ConsumerSpec>(
    `select name, types, partitions, generation, on_replay as "onReplay" from events.consumer where status <> 'detached'`,
  );
  return rows;
}

/** One queue of a consumer. */
export interface QueuePart {
  generation: number;
  partition: number;
}

/** Queues of older generations that may still hold events. */
export async function drainingParts(pool: pg.Pool, consumer: string): Promise<QueuePart[]> {
  const { rows } = await pool.query<QueuePart>(
    `select generation, partition from events.consumer_partition where consumer = $1 and state = 'draining' order by 1, 2`,
    [consumer],
  );
  return rows;
}

export async function partDrained(pool: pg.Pool, consumer: string, { generation, partition }: QueuePart): Promise<void> {
  await pool.query('delete from events.consumer_partition where consumer = $1 and generation = $2 and partition = $3', [
    consumer,
    generation,
    partition,
  ]);
}

/** All queues of a consumer. */
export async function partsOfConsumer(pool: pg.Pool, consumer: string): Promise<QueuePart[]> {
  const { rows } = await pool.query<QueuePart>('select generation, partition from events.consumer_partition where consumer = $1', [
    consumer,
  ]);
  return rows;
}
