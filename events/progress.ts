import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { firstIdAt, timeOfId } from './envelope.js';
import type { Delivery } from './transport/port.js';

/** How far a consumer is in this process. */
export interface Standing {
  inHand: number;
  /** When the oldest event in hand was emitted; null when none is. */
  oldestAt: Date | null;
  /** Events of replays in hand. */
  replaying: number;
  /** Sequence up to which this process has settled what it was given; null before the first event. */
  settledSeq: number | null;
}

/** The events that a consumer was given and has not settled. Events of a replay are old by nature, so they are no lag. */
export class InHand {
  readonly #events = new Set<Delivery['event']>();
  #settled: number | null = null;
  #replaying = 0;

  /** Counts the event while `work` runs; only one that is settled is behind the consumer. */
  async during<T>({ event }: Delivery, work: () => Promise<T>): Promise<T> {
    if (event.replay_id) return this.#duringReplay(work);
    this.#events.add(event);
    try {
      const result = await work();
      this.#settled = Math.max(this.#settled ?? 0, event.seq);
      return result;
    } finally {
      this.#events.delete(event);
    }
  }

  async #duringReplay<T>(work: () => Promise<T>): Promise<T> {
    this.#replaying++;
    try {
      return await work();
    } finally {
      this.#replaying--;
    }
  }

  get standing(): Standing {
    let [oldest, lowest] = [Infinity, Infinity];
    for (const { id, seq } of this.#events) [oldest, lowest] = [Math.min(oldest, timeOfId(id)), Math.min(lowest, seq)];
    const inHand = this.#events.size;
    const replaying = this.#replaying;
    return inHand > 0
      ? { inHand, oldestAt: new Date(oldest), replaying, settledSeq: lowest - 1 }
      : { inHand, oldestAt: null, replaying, settledSeq: this.#settled };
  }
}

const NOTE = `
insert into events.consumer_progress (consumer, holder, in_hand, oldest_at, replaying, settled_seq, seen_at)
select r.consumer, $1, r.in_hand, r.oldest_at, r.replaying, r.settled_seq, clock_timestamp()
from json_to_recordset($2::json) r(consumer text, in_hand int, oldest_at timestamptz, replaying int, settled_seq bigint)
where exists (select from events.consumer c where c.name = r.consumer) order by r.consumer
on conflict (consumer, holder) do update set in_hand = excluded.in_hand, oldest_at = excluded.oldest_at, replaying = excluded.replaying, settled_seq = excluded.settled_seq, seen_at = excluded.seen_at`;

/** What a process that is gone had in hand was given to another. */
const FORGET = `delete from events.consumer_progress where consumer = any ($1) and seen_at < clock_timestamp() - interval '1 minute'`;

/** Notes where the consumers of this process stand, for whoever asks in another. */
export class ProgressNotes {
  readonly #holder = randomUUID();

  constructor(readonly pool: pg.Pool) {}

  async write(standings: ReadonlyMap<string, Standing>): Promise<void> {
    if (standings.size === 0) return;
    const rows = [...standings].map(([consumer, { inHand, oldestAt, replaying, settledSeq }]) => ({
      consumer,
      in_hand: inHand,
      oldest_at: oldestAt,
      replaying,
      settled_seq: settledSeq,
    }));
    await this.pool.query(NOTE, [this.#holder, JSON.stringify(rows)]);
    await this.pool.query(FORGET, [[...standings.keys()]]);
  }
}

const READ = `
select coalesce(sum(in_hand) filter (where fresh), 0)::int as in_hand, (extract(epoch from min(oldest_at) filter (where fresh)) * 1000)::float8 as oldest,
  coalesce(least(min(settled_seq) filter (where in_hand > 0), max(settled_seq) filter (where in_hand = 0)), 0)::float8 as settled,
  (select (extract(epoch from created_at) * 1000)::float8 from events.consumer where name = $1) as made
from (select *, seen_at > clock_timestamp() - interval '15 s' as fresh from events.consumer_progress where consumer = $1) p`;

/** Instants in ms; `made` is null for a consumer that nobody has registered. */
interface Row {
  in_hand: number;
  oldest: number | null;
  settled: number;
  made: number | null;
}

/** One look into the index per type and day; what was emitted before the consumer was made is none of its own. */
const NEXT = `
select min(n.id::text) as id from events.consumer c cross join lateral unnest(c.types) t(type) cross join lateral (
  select o.id from events.outbox o where o.type = t.type and o.seq > $2 and o.id >= $3 order by o.seq limit 1
) n where c.name = $1`;

/** What processes have in hand of a consumer's events, and the emit of the oldest that waits, in hand or, where `ready` of them do, in a queue. */
export async function progressOf(pool: pg.Pool, consumer: string, ready: number): Promise<{ inHand: number; oldestAt: Date | null }> {
  const { in_hand: inHand, oldest, settled, made } = (await pool.query<Row>(READ, [consumer])).rows[0]!;
  if (oldest !== null) return { inHand, oldestAt: new Date(oldest) };
  if (ready === 0 || made === null) return { inHand, oldestAt: null };
  const { rows } = await pool.query<{ id: string | null }>(NEXT, [consumer, settled, firstIdAt(Math.floor(made))]);
  return { inHand, oldestAt: rows[0]?.id ? new Date(timeOfId(rows[0].id)) : null };
}

/** By notes that are fresh; `known` is false where one of them is older than `$2`, or a process that just began has written none. */
const PRESSURE = `
select coalesce(sum(replaying), 0)::int as replaying, coalesce(max(extract(epoch from seen_at - oldest_at)) * 1000, 0)::float8 as lag,
  coalesce(min(seen_at) > $2::timestamptz, false) as known
from events.consumer_progress where consumer = $1 and seen_at > clock_timestamp() - interval '15 s'`;

/** What processes have in hand of replays, and the age of the oldest live event in hand, ms, by notes written after `since`; null before all have written, and any has. */
export async function replaysInHand(
  pool: pg.Pool,
  consumer: string,
  since: Date | null,
): Promise<{ replaying: number; lagMs: number } | null> {
  const { rows } = await pool.query<{ replaying: number; lag: number; known: boolean }>(PRESSURE, [consumer, since ?? new Date(0)]);
  const { replaying, lag, known } = rows[0]!;
  return known || since === null ? { replaying, lagMs: lag } : null;
}
