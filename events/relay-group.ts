import type pg from 'pg';
import { Backoff } from './backoff.js';
import { OUTBOX_COLUMNS, type OutboxRow } from './envelope.js';
import { sqlStateOf } from './failure.js';
import { errorOf, type EventLog } from './log.js';
import type { EventMetrics } from './metrics.js';
import { LeaseLost, type GroupLease, type PublishResult, type Transport } from './transport/port.js';

/** Eight groups of eight slots. */
export const GROUPS = [0, 1, 2, 3, 4, 5, 6, 7] as const;

export interface RelayGroupOptions {
  pool: pg.Pool;
  transport: Transport;
  log: EventLog;
  metrics: EventMetrics | undefined;
  batch: number;
  lease: GroupLease;
  /** Whether the lease is surely still ours. */
  valid(): boolean;
}

/** A key whose event the broker did not take; only it waits. */
interface Held {
  until: number;
  since: number;
  alarmed: boolean;
  backoff: Backoff;
}

/** Events of one key in a pass at most, so that one busy user does not hold the others back. */
const CHAIN = 64;
const RETRY_FIRST_MS = 100;
const RETRY_MOST_MS = 5_000;
const ALARM_MS = 60_000;

const READ = `
select ${OUTBOX_COLUMNS} from events.outbox o
where (o.slot >> 3) = $1 and o.published_at is null and not (o.order_key = any ($2::text[])) order by o.seq limit $3`;

const NOTE_FAILURES = `
update events.outbox set attempts = least(attempts + 1, 32767), last_error = $2 where id = any ($1::uuid[]) and published_at is null`;

/** One lease's part of the log: reads in commit order, publishes, marks. */
export class RelayGroup {
  readonly #held = new Map<string, Held>();

  constructor(readonly options: RelayGroupOptions) {}

  /** Publishes what is there, batch after batch while they are full. Answers how many events went out. */
  async pass(): Promise<number> {
    let total = 0;
    for (;;) {
      if (!this.options.valid() || !this.options.transport.accepting()) return total;
      const rows = await this.#read();
      const sent = rows.length === 0 ? 0 : await this.#publish(rows);
      total += sent;
      if (sent === 0 || rows.length < this.options.batch) return total;
    }
  }

  async #read(): Promise<OutboxRow[]> {
    const now = performance.now();
    const waiting = [...this.#held].filter(([, { until }]) => until > now).map(([key]) => key);
    const { pool, lease, batch } = this.options;
    const { rows } = await pool.query<OutboxRow>({ name: 'events-relay-read', text: READ, values: [lease.group, waiting, batch] });
    return rows;
  }

  async #publish(rows: readonly OutboxRow[]): Promise<number> {
    const end = this.options.metrics?.publishSeconds.startTimer();
    try {
      const sent = this.options.transport.atomic ? await this.#whole(rows) : await this.#chains(rows);
      sent.forEach(row => this.options.metrics?.appended.inc({ type: row.type }));
      return sent.length;
    } catch (error) {
      this.#interrupted(error);
      return 0;
    } finally {
      end?.();
    }
  }

  /** All or nothing, marked by the publish itself. */
  async #whole(rows: readonly OutboxRow[]): Promise<readonly OutboxRow[]> {
    const results = await this.options.transport.publish(rows, this.options.lease);
    const refused = rows.filter((_, index) => !isOut(results[index]!));
    if (refused.length === 0) return this.#forget(rows);
    await this.#refused(refused, results[rows.indexOf(refused[0]!)]!);
    return [];
  }

  /** Per key one unconfirmed event: the next is sent when the one before is confirmed. Keys run side by side. */
  async #chains(rows: readonly OutboxRow[]): Promise<readonly OutboxRow[]> {
    const chains = byKey(rows);
    const sent = (await Promise.all([...chains.values()].map(chain => this.#chain(chain.slice(0, CHAIN)))))
      .flat()
      .sort((a, b) => a.seq - b.seq);
    if (sent.length > 0) await this.#mark(sent);
    return this.#forget(sent);
  }

  async #chain(rows: readonly OutboxRow[]): Promise<OutboxRow[]> {
    const sent: OutboxRow[] = [];
    for (const row of rows) {
      if (!this.options.valid()) break; // a successor may publish already
      const [result] = await this.options.transport.publish([row], this.options.lease);
      if (!isOut(result!)) {
        await this.#refused([row], result!);
        break;
      }
      sent.push(row);
    }
    return sent;
  }

  async #mark(rows: readonly OutboxRow[]): Promise<void> {
    const { group, epoch } = this.options.lease;
    await this.options.pool.query('select events.mark_published($1, $2, $3::uuid[], false)', [group, epoch, rows.map(row => row.id)]);
  }

  #forget(rows: readonly OutboxRow[]): readonly OutboxRow[] {
    if (this.#held.size > 0) rows.forEach(row => this.#held.delete(row.order_key));
    return rows;
  }

  /** Holds the keys back for 100 ms, doubling to 5 s; an alarm after a minute. */
  async #refused(rows: readonly OutboxRow[], result: PublishResult): Promise<void> {
    const now = performance.now();
    for (const [{ order_key, id, type }] of byKey(rows).values()) {
      const held = this.#held.get(order_key) ?? {
        until: 0,
        since: now,
        alarmed: false,
        backoff: new Backoff(RETRY_FIRST_MS, RETRY_MOST_MS),
      };
      held.until = now + held.backoff.next();
      this.#held.set(order_key, held);
      if (held.alarmed || now - held.since < ALARM_MS) continue;
      held.alarmed = true;
      this.options.log.error({ event: id, type, result }, 'an event could not be published for a minute');
    }
    await this.options.pool
      .query(NOTE_FAILURES, [rows.map(row => row.id), result])
      .catch(error => this.options.log.debug({ err: errorOf(error) }, 'a failed publish was not noted'));
  }

  #interrupted(error: unknown): void {
    const lost = error instanceof LeaseLost || sqlStateOf(error) === 'EV001';
    if (lost) this.options.log.info({ group: this.options.lease.group }, 'a relay group has a new holder');
    else this.options.log.warn({ err: errorOf(error), group: this.options.lease.group }, 'a batch was not published; it is tried again');
  }
}

function byKey(rows: readonly OutboxRow[]): Map<string, [OutboxRow, ...OutboxRow[]]> {
  const chains = new Map<string, [OutboxRow, ...OutboxRow[]]>();
  for (const row of rows) {
    const chain = chains.get(row.order_key);
    if (chain) chain.push(row);
    else chains.set(row.order_key, [row]);
  }
  return chains;
}

const isOut = (result: PublishResult): boolean => result === 'confirmed' || result === 'unroutable';
