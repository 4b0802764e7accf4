import type pg from 'pg';
import type { ConsumerSpec, Partitions } from './port.js';

/** What was registered before; null for a consumer that is new. */
export interface Registered {
  types: readonly string[];
  partitions: Partitions;
  generation: number;
}

const REGISTERED = 'select types, partitions, generation from events.consumer where name = $1 for update';

const REGISTER = `
insert into events.consumer as c (name, service, types, partitions, generation, on_replay) values ($1, split_part($1, '.', 1), $2, $3, $4, $5)
on conflict (name) do update set types = excluded.types, partitions = excluded.partitions, generation = excluded.generation, on_replay = excluded.on_replay,
  last_seen_at = clock_timestamp(), version = c.version + (c.types <> excluded.types or c.generation <> excluded.generation)::int`;

const PARTITIONS = `
insert into events.consumer_partition (consumer, generation, partition) select $1, $2, p from generate_series(0, $3 - 1) p on conflict do nothing`;

/**
 * Registers a consumer: what it listens to and how its queues are cut.
 * @param keepOld whether the queues of an older generation must be emptied before the new one starts.
 * @throws Error when `partitions` changed without a new generation, or a newer generation is registered.
 */
export async function registerConsumer(pool: pg.Pool, spec: ConsumerSpec, keepOld: boolean): Promise<Registered | null> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const {
      rows: [before],
    } = await client.query<Registered>(REGISTERED, [spec.name]);
    if (before) checkGeneration(spec, before);
    await client.query(REGISTER, [spec.name, [...spec.types].sort(), spec.partitions, spec.generation, spec.onReplay ?? 'dedupe']);
    const old = keepOld ? `update events.consumer_partition set state = 'draining'` : 'delete from events.consumer_partition';
    await client.query(`${old} where consumer = $1 and generation < $2`, [spec.name, spec.generation]);
    await client.query(PARTITIONS, [spec.name, spec.generation, spec.partitions]);
    await client.query('commit');
    return before ?? null;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the connection may be gone; the first error is the one to tell
    throw error;
  } finally {
    client.release();
  }
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
