import type pg from 'pg';
import { Backoff } from './backoff.js';
import type { OutboxRow } from './envelope.js';
import { sqlStateOf } from './failure.js';
import { FairReader, type Excluded } from './fair-reader.js';
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
  /** Called when something that a pass did not wait for has ended: there may be more of its key. */
  moved(): void;
}

/** A key whose event the broker did not take; only it waits. */
interface Held {
  until: number;
  since: number;
  alarmed: boolean;
  backoff: Backoff;
}

/** Events of one key in a pass at most, where each waits for the confirm of the one before. */
const CHAIN = 64;
/** So long a pass sends second and later events of a key: who comes meanwhile is in the next one. */
const SHARE_MS = 100;
/** So long a pass waits for confirms; then it goes on without the keys whose are still due. */
const PATIENCE_MS = 250;
const NOTE_HELD_MS = 5_000;
const RETRY_FIRST_MS = 100;
const RETRY_MOST_MS = 5_000;
const ALARM_MS = 60_000;

const NOTE_FAILURES = `
update events.outbox set attempts = least(attempts + 1, 32767), last_error = $2 where id = any ($1::uuid[]) and published_at is null`;

const NOTE_HELD = `
update events.outbox o set last_error = h.cause from unnest($2::smallint[], $3::text[]) h(slot, cause)
where o.id = (select w.id from events.outbox w where (w.slot >> 3) = $1 and w.slot = h.slot and w.published_at is null order by w.seq limit 1)`;

/** One lease's part of the log: reads in commit order, publishes, marks. */
export class RelayGroup {
  readonly #held = new Map<string, Held>();
  readonly #reader: FairReader;
  /** Keys with an event that is sent and not yet marked. */
  readonly #busy = new Map<string, Promise<void>>();
  #notedHeldAt = -Infinity;
  #confirmed: OutboxRow[] = [];
  #ended: string[] = [];
  #marking: Promise<unknown> = Promise.resolve();

  constructor(readonly options: RelayGroupOptions) {
    const { pool, lease, transport, batch } = options;
    this.#reader = new FairReader({ pool, group: lease.group, perKey: transport.atomic ? batch : CHAIN });
  }

  /** Publishes what is there, pass after pass while there is more. Answers how many events went out. */
  async pass(): Promise<number> {
    await this.#noteHeld();
    for (let total = 0; ;) {
      const room = this.options.batch - this.#busy.size;
      if (room <= 0 || !this.options.valid() || !this.options.transport.accepting()) return total;
      const { rows, more } = await this.#reader.read(this.#excluded(), room);
      const sent = rows.length === 0 ? 0 : await this.#publish(rows);
      total += sent;
      if (sent === 0 || (!more && sent === rows.length)) return total;
    }
  }

  /** Waits for what was sent, until it is confirmed or given up. */
  async drained(): Promise<void> {
    await Promise.all(this.#busy.values());
  }

  /** Says of the first event that waits in a slot why it does, for operators and the alarm. */
  async #noteHeld(): Promise<void> {
    const { transport, lease, pool } = this.options;
    const mine = (transport.heldSlots?.() ?? []).filter(slot => slot >> 3 === lease.group);
    if (mine.length === 0 || performance.now() - this.#notedHeldAt < NOTE_HELD_MS) return;
    this.#notedHeldAt = performance.now();
    await pool.query(NOTE_HELD, [lease.group, mine, mine.map(slot => transport.causeOfHold?.(slot) ?? null)]);
  }

  /** What is not to be read now. */
  #excluded(): Excluded {
    const now = performance.now();
    const held = [...this.#held].filter(([, { until }]) => until > now).map(([key]) => key);
    return { keys: [...held, ...this.#busy.keys()], slots: this.options.transport.heldSlots?.() ?? [] };
  }

  async #publish(rows: readonly OutboxRow[]): Promise<number> {
    const end = this.options.metrics?.publishSeconds.startTimer();
    try {
      return this.options.transport.atomic ? await this.#whole(rows) : await this.#chains(rows);
    } catch (error) {
      this.#interrupted(error);
      return 0;
    } finally {
      end?.();
    }
  }

  /** All or nothing, marked by the publish itself. */
  async #whole(rows: readonly OutboxRow[]): Promise<number> {
    const results = await this.options.transport.publish(rows, this.options.lease);
    const refused = rows.filter((_, index) => !isOut(results[index]!));
    if (refused.length === 0) return this.#out(rows);
    await this.#refused(refused, results[rows.indexOf(refused[0]!)]!);
    return 0;
  }

  /** Keys run side by side; one whose confirm is long in coming is left alone, and marked when it has ended. */
  async #chains(rows: readonly OutboxRow[]): Promise<number> {
    const until = performance.now() + SHARE_MS;
    const pass = { over: false };
    const chains = [...byKey(rows)].map(([key, chain]) => {
      const running = this.#chain(key, chain, until).then(() => (pass.over ? this.#markLate() : undefined));
      this.#busy.set(key, running);
      return running;
    });
    await within(PATIENCE_MS, Promise.all(chains));
    pass.over = true;
    return this.#mark();
  }

  /** Per key one unconfirmed event: the next is sent when the one before is confirmed. */
  async #chain(key: string, rows: readonly OutboxRow[], until: number): Promise<void> {
    for (const [place, row] of rows.entries()) {
      if (!this.options.valid() || (place > 0 && performance.now() > until)) break; // a successor may publish already
      const [result] = await this.options.transport.publish([row], this.options.lease);
      if (isOut(result!)) this.#confirmed.push(row);
      else {
        await this.#refused([row], result!);
        break;
      }
    }
    this.#ended.push(key);
  }

  /** One after the other, so that places follow the order of the confirms. */
  #mark(): Promise<number> {
    const mine = this.#marking.then(() => this.#markConfirmed());
    this.#marking = mine.catch(() => undefined);
    return mine;
  }

  /** Marks what is confirmed; then the keys that have ended may be read again. */
  async #markConfirmed(): Promise<number> {
    const [rows, ended] = [this.#confirmed.sort((a, b) => a.seq - b.seq), this.#ended];
    [this.#confirmed, this.#ended] = [[], []];
    const { group, epoch } = this.options.lease;
    const ids = rows.map(row => row.id);
    try {
      if (ids.length > 0) await this.options.pool.query('select events.mark_published($1, $2, $3::uuid[], false)', [group, epoch, ids]);
    } finally {
      ended.forEach(key => this.#busy.delete(key));
    }
    return this.#out(rows);
  }

  async #markLate(): Promise<void> {
    await this.#mark().catch(error => this.#interrupted(error));
    this.options.moved();
  }

  #out(rows: readonly OutboxRow[]): number {
    if (this.#held.size > 0) rows.forEach(row => this.#held.delete(row.order_key));
    rows.forEach(row => this.options.metrics?.appended.inc({ type: row.type }));
    return rows.length;
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
      .query(NOTE_FAILURES, [rows.map(row => row.id), this.options.transport.causeOfHold?.(rows[0]!.slot) ?? result])
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

/** Ends with the work, or without it after `ms`. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise(resolve => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}

const isOut = (result: PublishResult): boolean => result === 'confirmed' || result === 'unroutable';
