import type pg from 'pg';
import { OUTBOX_COLUMNS, type OutboxRow } from './envelope.js';

const COMMIT_ORDER = `
select ${OUTBOX_COLUMNS} from events.outbox o
where (o.slot >> 3) = $1 and o.published_at is null and not (o.order_key = any ($2::text[])) and not (o.slot = any ($3::smallint[])) order by o.seq limit $4`;

/** From key to key along an index of what waits, however much waits of one; of each key its first events. */
const BY_KEY = `
with recursive k as (
  (select o.order_key, o.slot from events.outbox o where (o.slot >> 3) = $1 and o.published_at is null and o.order_key > $5 order by o.order_key limit 1)
  union all
  select n.order_key, n.slot from k cross join lateral (
    select o.order_key, o.slot from events.outbox o where (o.slot >> 3) = $1 and o.published_at is null and o.order_key > k.order_key order by o.order_key limit 1
  ) n
), keys as (select order_key from k where not (order_key = any ($2::text[])) and not (slot = any ($3::smallint[])) limit $4)
select ${OUTBOX_COLUMNS} from keys cross join lateral (
  select * from events.outbox w where (w.slot >> 3) = $1 and w.published_at is null and w.order_key = keys.order_key order by w.seq
  limit greatest(1, least($6, $4 / (select count(*) from keys)))
) o`;

export interface FairReaderOptions {
  pool: pg.Pool;
  group: number;
  /** Events of one key in a read at most. */
  perKey: number;
}

/** Keys and slots that are not to be read now. */
export interface Excluded {
  keys: readonly string[];
  slots: readonly number[];
}

/**
 * What waits in a relay group. While it fits into one read it is read in commit order; where more waits, each key gets its share before any
 * key a second one: a read takes the first events of so many keys as fit, and the next goes on behind them.
 */
export class FairReader {
  #crowded = false;
  /** The last key that was read. */
  #after = '';

  constructor(readonly options: FairReaderOptions) {}

  /** @returns rows in commit order, and whether there may be more than these. */
  async read(excluded: Excluded, limit: number): Promise<{ rows: OutboxRow[]; more: boolean }> {
    if (!this.#crowded) {
      const rows = await this.#query('events-relay-read', COMMIT_ORDER, excluded, [limit]);
      this.#crowded = rows.length === limit;
      if (!this.#crowded) return { rows, more: false };
    }
    return this.#byKey(excluded, limit);
  }

  async #byKey(excluded: Excluded, limit: number): Promise<{ rows: OutboxRow[]; more: boolean }> {
    const from = this.#after;
    const rows = await this.#query('events-relay-keys', BY_KEY, excluded, [limit, from, this.options.perKey]);
    const keys = [...new Set(rows.map(row => row.order_key))];
    const ended = keys.length < limit;
    this.#after = ended ? '' : keys.at(-1)!;
    this.#crowded = !ended || from !== '' || rows.length >= Math.min(limit, this.options.perKey);
    return { rows: rows.sort((a, b) => a.seq - b.seq), more: this.#crowded };
  }

  async #query(name: string, text: string, { keys, slots }: Excluded, more: readonly unknown[]): Promise<OutboxRow[]> {
    const values = [this.options.group, keys, slots, ...more];
    return (await this.options.pool.query<OutboxRow>({ name, text, values })).rows;
  }
}
