import type { Condition, EntranceRead } from './entrance.js';
import { NO_REPLAY, type Envelope } from './envelope.js';
import type { Sql } from './outbox.js';
import { lastOfTransaction, prepared } from './prepared.js';
import type { Delivery } from './transport/port.js';

export interface InboxOptions {
  consumer: string;
  /** PostgreSQL schema with the `inbox` table. */
  schema: string;
  /** The consumer's handlers may run again for a replay that asks for it. */
  rerun: boolean;
  /** Deadline of every statement of a handler's transaction, ms. */
  timeoutMs: number;
  /** See {@link Consumer.read}. */
  read?: (event: Envelope, first: number) => EntranceRead | null;
}

/** Number of the first parameter that a consumer's `read` may use. */
const FIRST_FREE = 6;

/** Whether the handler is to run, with what was read for it, need not, or must wait behind a dead letter of its key. */
export type Entrance = { is: 'fresh'; read: unknown } | { is: 'done' } | { is: 'blocked' };

/** An event that its handler has nothing to do with, if the condition holds. */
export interface Passed {
  delivery: Delivery;
  condition: Condition;
}

type Entry = Pick<Delivery, 'event' | 'rerun'>;

/**
 * A consumer's memory of what it is done with: a row that commits with the effect, or the dead letter that an operator discarded. Every way
 * to a handler asks here. Always inside the handler's transaction.
 */
export class Inbox {
  constructor(readonly options: InboxOptions) {}

  /** What the handler reads first. @throws what the consumer's `read` throws */
  asked({ event, erased }: Delivery): EntranceRead {
    return (erased ? null : this.options.read?.(event, FIRST_FREE)) ?? { text: 'null', params: [] };
  }

  /**
   * Key lock, blocked?, given up? (after the lock), inbox row, embedded, taking the queue's row, and what the handler reads first, in one round
   * trip; then every statement has the handler's deadline. One plain statement: with two common table expressions it took twice as long.
   */
  async enter(sql: Sql, delivery: Delivery, asked = this.asked(delivery)): Promise<Entrance> {
    const take = takeOf(delivery, FIRST_FREE + asked.params.length);
    const text = prepared(insertOf(this.options.schema, `(${asked.text}) as read${take.text}`));
    const params = [...this.#paramsOf(delivery), ...asked.params, ...take.params];
    for (;;) {
      const [fresh] = await sql<{ read?: unknown }>(text, params);
      if (fresh) return { is: 'fresh', read: fresh.read };
      const blocked = await this.isBlocked(sql, delivery);
      if (await this.has(sql, delivery)) return { is: 'done' };
      if (blocked) return { is: 'blocked' };
    } // what it waited for was discarded between the two looks
  }

  /**
   * Notes events that their handlers have nothing to do with, of different keys and with conditions of one text, and commits, in one round
   * trip: the last statement of its transaction. Locks are taken in the order of the keys.
   * @param patienceMs how long it waits for each lock; null: as any statement.
   * @returns ids of those that were noted. Of another nothing was written, because its condition does not hold, it is done or its key
   * waits; it is to `enter` in another transaction.
   */
  async pass(sql: Sql, passed: readonly Passed[], patienceMs: number | null): Promise<ReadonlySet<string>> {
    const { consumer, schema } = this.options;
    const sorted = passed.toSorted((one, other) => (one.delivery.event.order_key < other.delivery.event.order_key ? -1 : 1));
    const rows = sorted.map(({ delivery, condition }) => [...this.#passingOf(delivery), ...condition.values]);
    const columns = rows[0]!.map((_, column) => rows.map(row => row[column]));
    const text = lastOfTransaction(passOf(schema, passed[0]!.condition));
    const noted = await sql<{ id: string }>(text, [consumer, patienceMs?.toString() ?? null, ...columns]);
    return new Set(noted.map(({ id }) => id));
  }

  /** In the order of `PASSING`. */
  #passingOf(delivery: Delivery): unknown[] {
    const { event, queued, slot } = delivery;
    return [event.order_key, event.id, this.#replayId(delivery), queued ? slot : null, event.seq, event.replay_id ?? NO_REPLAY];
  }

  #paramsOf(delivery: Delivery): unknown[] {
    const { consumer, timeoutMs } = this.options;
    const { order_key, id } = delivery.event;
    return [consumer, order_key, id, this.#replayId(delivery), String(timeoutMs)];
  }

  /** Whether the key waits behind a dead letter; takes the key's lock, and the queue's row. */
  async isBlocked(sql: Sql, delivery: Delivery): Promise<boolean> {
    const take = takeOf(delivery, 3);
    const params = [this.options.consumer, delivery.event.order_key, ...take.params];
    const [row] = await sql<{ blocked: boolean }>(`select events.is_blocked($1, $2) as blocked${take.text}`, params);
    return row!.blocked;
  }

  /** Whether the effect is committed already, or given up. */
  async has(sql: Sql, entry: Entry): Promise<boolean> {
    const [row] = await sql<{ handled: boolean }>(
      `select exists (select from ${this.options.schema}.inbox where consumer = $1 and event_id = $2::uuid and replay_id = $3::uuid)
        or events.is_settled($1, $2::uuid, $3::uuid) as handled`,
      [this.options.consumer, entry.event.id, this.#replayId(entry)],
    );
    return row!.handled;
  }

  /** Under the key's lock: notes the event of a dead letter. False when its effect is committed already, or given up. */
  async add(sql: Sql, entry: Entry): Promise<boolean> {
    const { consumer, schema } = this.options;
    await sql('select events.is_blocked($1, $2)', [consumer, entry.event.order_key]);
    const added = await sql(
      `insert into ${schema}.inbox (consumer, event_id, replay_id, processed_at)
      select $1, $2::uuid, $3::uuid, clock_timestamp() where not events.is_settled($1, $2::uuid, $3::uuid)
      on conflict do nothing returning 1`,
      [consumer, entry.event.id, this.#replayId(entry)],
    );
    return added.length > 0;
  }

  /** A replay is recognised as handled, unless it and the consumer both say that handlers run again. */
  #replayId({ event, rerun }: Entry): string {
    return rerun && this.options.rerun && event.replay_id ? event.replay_id : NO_REPLAY;
  }
}

/** The inbox row, unless its key waits, or it is settled; asked in this order. */
const insertOf = (schema: string, columns: string): string =>
  `insert into ${schema}.inbox (consumer, event_id, replay_id, processed_at)
      select $1, $3::uuid, $4::uuid, clock_timestamp()
      where not case when events.is_blocked($1, $2) then true else events.is_settled($1, $3::uuid, $4::uuid) end
      on conflict do nothing returning set_config('statement_timeout', $5, true), ${columns}`;

/** What is told of each event that passes over; `slot` is null of one that stands in no queue. */
const PASSING = { order_key: 'text', event_id: 'uuid', replay_id: 'uuid', slot: 'int', seq: 'bigint', sent_by: 'uuid' };

/** The same of many, each under its condition. One that is there already is taken out of the queue all the same: its effect is committed. */
function passOf(schema: string, { text, types }: Condition): string {
  const columns = { ...PASSING, ...types };
  const arrays = Object.values(columns).map((type, place) => `$${place + 3}::${type}[]`);
  return `insert into ${schema}.inbox (consumer, event_id, replay_id, processed_at)
      select $1, own.event_id, own.replay_id, clock_timestamp() from unnest(${arrays.join(', ')}) own(${Object.keys(columns).join(', ')})
      where case when set_config('lock_timeout', $2, true) is null then false
        when events.is_blocked($1, own.order_key) then false
        when events.is_settled($1, own.event_id, own.replay_id) then false
        when (${text}) then own.slot is null or events.take($1, own.slot, own.seq, own.sent_by) is not null
        else false end
      on conflict do nothing returning event_id as id`;
}

/** A further column that takes the event out of the queue, for a delivery that stands in one; `$1` is the consumer. */
function takeOf({ queued, slot, event }: Delivery, first: number): { text: string; params: unknown[] } {
  if (!queued) return { text: '', params: [] };
  return { text: `, events.take($1, $${first}, $${first + 1}, $${first + 2})`, params: [slot, event.seq, event.replay_id ?? NO_REPLAY] };
}
