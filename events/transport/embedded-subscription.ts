import type pg from 'pg';
import { envelopeOf, NO_REPLAY, OUTBOX_COLUMNS, SLOTS, type OutboxRow } from '../envelope.js';
import type { LeaseKeeper } from '../leases.js';
import { errorOf, type EventLog } from '../log.js';
import { LookPace } from '../look-pace.js';
import { partitionOf, type ConsumerSpec, type Delivery, type Settled, type Subscription } from './port.js';

interface QueueRow extends OutboxRow {
  replay_id: string;
  deliveries: number;
  rerun: boolean;
  erased: boolean;
}

/** Events of a consumer that this process holds unsettled at most. Source: event-machinery 6. */
const WINDOW = 200;
/** Of these as many of one slot, where there are more than fit. */
const SLOT_WINDOW = 16;

/** Between two reads at least, ms: what arrives meanwhile comes with the next. */
const READ_MS = 10;
/** The same in a stream of events. */
const STREAM_READ_MS = 50;

/**
 * Nothing for a consumer that is paused, detached or fed from the log: what stands in its queue comes later, and a process that has not yet
 * noticed may not bring it forward. `slot + 0` keeps the planner from the primary key, which would read and sort the whole backlog for
 * its first 200.
 */
const READ = `
select q.replay_id, q.deliveries, coalesce(r.mode = 'rerun', false) as rerun, o.erased_at is not null as erased, ${OUTBOX_COLUMNS}
from (select * from events.queue where consumer = $1 and slot + 0 = any ($2) and not (seq = any ($3))
  and exists (select from events.consumer c where c.name = $1 and c.status = 'active' and c.position is null) order by seq limit $4) q
join events.outbox o on o.id = q.event_id left join events.replay r on r.id = q.replay_id order by q.seq`;

/** What was read fills the window: of each slot no more than its share, so that one user with thousands of events keeps nobody else out. */
const READ_FAIRLY = `
select q.replay_id, q.deliveries, coalesce(r.mode = 'rerun', false) as rerun, o.erased_at is not null as erased, ${OUTBOX_COLUMNS}
from (
  select f.* from unnest($2::smallint[], $5::int[]) s(slot, share) cross join lateral (
    select q.*, row_number() over (order by q.seq) as place from events.queue q
    where q.consumer = $1 and q.slot = s.slot and not (q.seq = any ($3)) order by q.seq limit s.share
  ) f where exists (select from events.consumer c where c.name = $1 and c.status = 'active' and c.position is null) order by f.place limit $4
) q join events.outbox o on o.id = q.event_id left join events.replay r on r.id = q.replay_id order by q.seq`;

/** After a crash: what may have been in the hands of the former holder. */
const COUNT_CRASH = `
with head as (select slot, seq, replay_id from events.queue where consumer = $1 and slot + 0 = any ($2) order by seq limit ${WINDOW})
update events.queue q set deliveries = q.deliveries + 1 from head h
where q.consumer = $1 and q.slot = h.slot and q.seq = h.seq and q.replay_id = h.replay_id`;

/**
 * What is in hand of a partition since its lease was gained. Once it was not held for a moment, all of it is given back, and nothing is read
 * before it is: a lease that comes back at once would else let an event overtake an earlier one of its key that was given back.
 */
class Tenure {
  inHand = 0;
  #over = false;

  constructor(private readonly holds: () => boolean) {}

  get over(): boolean {
    return (this.#over ||= !this.holds());
  }
}

/** Whether there is one left for the slot; then it is taken. */
function take(shares: Map<number, number>, slot: number): boolean {
  const left = shares.get(slot) ?? 0;
  if (left > 0) shares.set(slot, left - 1);
  return left > 0;
}

/** One consumer's share of `events.queue` in this process: the partitions whose leases it holds. */
export class EmbeddedSubscription implements Subscription {
  /** Sequence and slot of what is in hand. */
  readonly #inFlight = new Map<number, number>();
  readonly #tenures = new Map<number, Tenure>();
  /** Settled while a read was under way: the read may still show them. */
  #settledMeanwhile = new Set<number>();
  #reading = false;
  readonly #pace = new LookPace(READ_MS, STREAM_READ_MS);
  #timer: NodeJS.Timeout | undefined;
  #again = false;
  #more = false;
  /** More waits than fits into the window. */
  #crowded = false;
  #paused = true;
  #closed = false;

  constructor(
    readonly spec: ConsumerSpec,
    readonly pool: pg.Pool,
    readonly keeper: LeaseKeeper,
    readonly log: EventLog,
    readonly onMessage: (delivery: Delivery) => Promise<Settled>,
  ) {}

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Whether all partitions are this process's: nobody else takes events of the consumer. */
  get isAlone(): boolean {
    return Array.from({ length: this.spec.partitions }, (_, partition) => this.#holds(partition)).every(Boolean);
  }

  async start(): Promise<void> {
    const names = Array.from({ length: this.spec.partitions }, (_, partition) => this.#lease(partition));
    await this.keeper.join({
      kind: this.#kind,
      names,
      lost: () => undefined,
      gained: ({ name, crashed }) => this.#gained(Number(name.slice(name.lastIndexOf(':') + 1)), crashed),
    });
  }

  get #kind(): string {
    return `consumer:${this.spec.name}`;
  }

  #lease(partition: number): string {
    return `${this.#kind}:${partition}`;
  }

  #holds(partition: number): boolean {
    return !this.#closed && !this.#paused && this.keeper.held(this.#lease(partition)) !== undefined;
  }

  /** Of the partitions that are held and may be read, those that begin anew included. */
  #open(): Map<number, Tenure> {
    const all = Array.from({ length: this.spec.partitions }, (_, partition) => [partition, this.#tenure(partition)] as const);
    return new Map(all.filter(([, tenure]) => !tenure.over));
  }

  #tenure(partition: number): Tenure {
    const last = this.#tenures.get(partition);
    if (last && (!last.over || last.inHand > 0)) return last;
    const next = new Tenure(() => this.#holds(partition));
    this.#tenures.set(partition, next);
    return next;
  }

  async #gained(partition: number, crashed: boolean): Promise<void> {
    if (crashed) await this.pool.query(COUNT_CRASH, [this.spec.name, this.#slots([partition])]);
    this.wake();
  }

  #slots(partitions: readonly number[]): number[] {
    return Array.from({ length: SLOTS }, (_, slot) => slot).filter(slot => partitions.includes(partitionOf(slot, this.spec.partitions)));
  }

  /** There may be something to read. A full window is read on when it is half empty, and never every few milliseconds. */
  wake(): void {
    if (this.#reading) this.#again = true;
    else if (this.#more && this.#inFlight.size > WINDOW / 2) return;
    else this.#timer ??= setTimeout(() => void this.#fill(), this.#pace.wait(performance.now(), this.#more));
  }

  async #fill(): Promise<void> {
    this.#timer = undefined;
    this.#reading = true;
    this.#again = false;
    try {
      await this.#read();
    } catch (error) {
      if (!this.#closed)
        this.log.warn({ err: errorOf(error), consumer: this.spec.name }, 'the queue could not be read; the next poll tries again');
    } finally {
      this.#reading = false;
      if (this.#again && !this.#closed) this.wake();
    }
  }

  async #read(): Promise<void> {
    this.#pace.looked(performance.now());
    const tenures = this.#open();
    const room = WINDOW - this.#inFlight.size;
    if (tenures.size === 0 || room < WINDOW / 4) return;
    const rows = await this.#rows([...tenures.keys()], room);
    rows.forEach(row => this.#deliver(row, tenures.get(partitionOf(row.slot, this.spec.partitions))!));
  }

  async #rows(partitions: readonly number[], limit: number): Promise<QueueRow[]> {
    this.#settledMeanwhile = new Set();
    const slots = this.#slots(partitions);
    const values = [this.spec.name, slots, [...this.#inFlight.keys()], limit];
    const shares = this.#shares(slots);
    let rows = this.#crowded ? [] : await this.#query('events-queue-read', READ, values);
    this.#crowded ||= rows.length === limit;
    if (this.#crowded)
      rows = await this.#fairly(
        values,
        limit,
        slots.map(slot => shares.get(slot)!),
      );
    const kept = rows.filter(({ slot }) => take(shares, slot));
    this.#crowded &&= rows.length === limit || [...shares.values()].includes(0);
    this.#more = this.#crowded || kept.length < rows.length;
    return kept.filter(row => !this.#settledMeanwhile.has(row.seq));
  }

  /**
   * The first of each slot, then the second of each and so on. Where most slots have some these are all among the first few of each, so that
   * many are asked for first: to read the whole shares of 64 full slots takes 2.4 ms.
   */
  async #fairly(values: readonly unknown[], limit: number, shares: readonly number[]): Promise<QueueRow[]> {
    const ask = (most: number): Promise<QueueRow[]> =>
      this.#query('events-queue-read-fairly', READ_FAIRLY, [...values, shares.map(share => Math.min(share, most))]);
    const few = Math.ceil(limit / shares.length) + 1;
    const rows = await ask(few);
    return rows.length === limit || few >= SLOT_WINDOW ? rows : ask(SLOT_WINDOW);
  }

  async #query(name: string, text: string, values: readonly unknown[]): Promise<QueueRow[]> {
    return (await this.pool.query<QueueRow>({ name, text, values: [...values] })).rows;
  }

  /** How many more of each slot may be in hand. */
  #shares(slots: readonly number[]): Map<number, number> {
    const shares = new Map(slots.map(slot => [slot, SLOT_WINDOW]));
    this.#inFlight.forEach(slot => take(shares, slot));
    return shares;
  }

  /** What was read in a tenure that is over stays: earlier ones of its key, in hand when it was read, may have been given back since. */
  #deliver(row: QueueRow, tenure: Tenure): void {
    if (tenure.over || this.#inFlight.has(row.seq)) return; // a replay of an event that is in hand waits for it
    this.#inFlight.set(row.seq, row.slot);
    tenure.inHand++;
    const replayId = row.replay_id === NO_REPLAY ? null : row.replay_id;
    const { deliveries, rerun, erased, slot } = row;
    const settled = this.onMessage({
      event: envelopeOf(row, replayId),
      slot,
      malformed: null,
      deliveries,
      queued: true,
      rerun,
      erased,
      stale: () => tenure.over,
    });
    settled.catch(() => undefined).finally(() => this.#settled(row.seq, tenure)); // not settled: it stays in the queue for whoever holds the partition
  }

  #settled(seq: number, tenure: Tenure): void {
    this.#inFlight.delete(seq);
    this.#settledMeanwhile.add(seq);
    tenure.inHand--;
    if (this.#more || (tenure.inHand === 0 && tenure.over && !this.#closed)) this.wake();
  }

  async pause(): Promise<void> {
    this.#paused = true;
  }

  async resume(): Promise<void> {
    this.#paused = false;
    this.wake();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.keeper.leave(this.#kind);
  }
}
