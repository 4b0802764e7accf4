import type { EntranceRead } from './entrance.js';
import { NO_REPLAY, type Envelope } from './envelope.js';
import type { Sql } from './outbox.js';
import { prepared } from './prepared.js';
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

/** Whether the handler is to run, with what was read for it, need not, or must wait behind a dead letter of its key. */
export type Entrance = { is: 'fresh'; read: unknown } | { is: 'done' } | { is: 'blocked' };

type Entry = Pick<Delivery, 'event' | 'rerun'>;

/**
 * A consumer's memory of what it is done with: a row that commits with the effect, or the dead letter that an operator discarded. Every way
 * to a handler asks here. Always inside the handler's transaction.
 */
export class Inbox {
  constructor(readonly options: InboxOptions) {}

  /**
   * Key lock, blocked?, given up? (after the lock), inbox row, embedded, taking the queue's row, and what the handler reads first, in one round
   * trip; then every statement has the handler's deadline. One plain statement: with two common table expressions it took twice as long.
   */
  async enter(sql: Sql, delivery: Delivery): Promise<Entrance> {
    const { consumer, schema, timeoutMs } = this.options;
    const { event } = delivery;
    const take = takeOf(delivery, 6);
    const read = this.options.read?.(event, 6 + take.params.length);
    const also = read ? `${take.text}, (${read.text}) as read` : take.text;
    for (;;) {
      const [fresh] = await sql<{ read?: unknown }>(
        prepared(`insert into ${schema}.inbox (consumer, event_id, replay_id, processed_at)
      select $1, $3::uuid, $4::uuid, clock_timestamp()
      where not case when events.is_blocked($1, $2) then true else events.is_settled($1, $3::uuid, $4::uuid) end on conflict do nothing
      returning set_config('statement_timeout', $5, true)${also}`),
        [consumer, event.order_key, event.id, this.#replayId(delivery), String(timeoutMs), ...take.params, ...(read?.params ?? [])],
      );
      if (fresh) return { is: 'fresh', read: fresh.read };
      const blocked = await this.isBlocked(sql, delivery);
      if (await this.has(sql, delivery)) return { is: 'done' };
      if (blocked) return { is: 'blocked' };
    } // what it waited for was discarded between the two looks
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

/** A further column that takes the event out of the queue, for a delivery that stands in one; `$1` is the consumer. */
function takeOf({ queued, slot, event }: Delivery, first: number): { text: string; params: unknown[] } {
  if (!queued) return { text: '', params: [] };
  return { text: `, events.take($1, $${first}, $${first + 1}, $${first + 2})`, params: [slot, event.seq, event.replay_id ?? NO_REPLAY] };
}
