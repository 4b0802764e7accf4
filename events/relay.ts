import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { planWithIndexes } from './index-plans.js';
import { EventLeases } from './lease-table.js';
import { LeaseKeeper } from './leases.js';
import { errorOf, type EventLog } from './log.js';
import { LookPace } from './look-pace.js';
import type { EventMetrics } from './metrics.js';
import { GROUPS, RelayGroup } from './relay-group.js';
import type { Transport } from './transport/port.js';

export interface RelayOptions {
  /** Connections that act as `platform_events`. */
  pool: pg.Pool;
  transport: Transport;
  log: EventLog;
  /** Length of a group's lease, ms; default 10,000. */
  leaseMs?: number;
  /** Events per batch and group; default 500. */
  batch?: number;
  /** Poll while busy, ms, 60 in a stream; doubles to 250 when idle; default 25. */
  pollMs?: number;
  /** false: publishes every group without asking, as a stalled relay beside its successor would. For tests. */
  leases?: boolean;
  metrics?: EventMetrics;
}

export interface Relay {
  /** Ends after the batches that are under way and gives the groups back. */
  stop(): Promise<void>;
}

const IDLE_POLL_MS = 250;
/** Poll in a stream of events, ms: more of them come with one statement. */
const STREAM_POLL_MS = 60;
const MEASURE_MS = 5_000;

const GROUPS_WITH_WORK = `
select g from unnest($1::int[]) g where exists (select from events.outbox where (slot >> 3) = g and published_at is null)`;

/** Moves committed events from the log to the transport, in order per key. Any number may run. Source: event-machinery 4. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const relay = new RunningRelay(options);
  await relay.start();
  return relay;
}

class RunningRelay implements Relay {
  readonly #groups = new Map<number, RelayGroup>();
  readonly #keeper: LeaseKeeper;
  readonly #pollMs: number;
  readonly #ends: (() => void | Promise<void>)[] = [];
  #stopped = false;
  #interval: number;
  readonly #pace: LookPace;
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> = Promise.resolve();
  /** Passes that are under way; a group has one at a time, and none waits for another. */
  readonly #passes = new Map<RelayGroup, Promise<void>>();

  constructor(readonly options: RelayOptions) {
    const { pool, leaseMs = 10_000, log } = options;
    planWithIndexes(pool);
    this.#keeper = new LeaseKeeper({ table: new EventLeases(pool), holder: randomUUID(), leaseMs, log });
    this.#pollMs = options.pollMs ?? 25;
    this.#interval = this.#pollMs;
    this.#pace = new LookPace(this.#pollMs, Math.max(this.#pollMs, STREAM_POLL_MS));
  }

  async start(): Promise<void> {
    if (this.options.leases === false) GROUPS.forEach(group => this.#add(group, null));
    else await this.#share();
    const waking = this.options.transport.onWake(
      () => this.#wake(),
      () => this.#groups.size === GROUPS.length,
    );
    const measuring = this.options.metrics && setInterval(() => void this.#measure(), MEASURE_MS);
    this.#ends.push(
      () => waking.stop(),
      () => clearInterval(measuring),
    );
    await this.#drainGivenUp();
    this.#schedule(0);
  }

  #share(): Promise<void> {
    const group = (name: string): number => Number(name.slice('relay:'.length));
    return this.#keeper.join({
      kind: 'relay',
      names: GROUPS.map(one => `relay:${one}`),
      gained: ({ name, epoch }) => this.#add(group(name), epoch),
      lost: name => this.#remove(group(name)),
    });
  }

  #add(group: number, epoch: number | null): void {
    const { pool, transport, log, metrics, batch = 500 } = this.options;
    const valid = (): boolean => !this.#stopped && (epoch === null || this.#keeper.held(`relay:${group}`)?.epoch === epoch);
    const moved = (): void => this.#wake();
    this.#groups.set(group, new RelayGroup({ pool, transport, log, metrics, batch, lease: { group, epoch }, valid, moved }));
    metrics?.leaseHolder.set({ group }, 1);
  }

  #remove(group: number): void {
    this.#groups.delete(group);
    this.options.metrics?.leaseHolder.set({ group }, 0);
  }

  /** What the broker gave up becomes dead letters. */
  async #drainGivenUp(): Promise<void> {
    const { transport, pool, log } = this.options;
    const subscription = await transport.onGivenUp?.(async (consumer, { event }) => {
      await pool.query(FILE_GIVEN_UP, [consumer, event.id, event.order_key, event.seq, event.type]);
      log.error({ consumer, event: event.id, type: event.type }, 'the broker gave an event up; it is a dead letter');
    });
    if (subscription) this.#ends.push(() => subscription.close());
  }

  #schedule(wait: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#polling = this.#poll().finally(() => this.#schedule(Math.max(this.#interval, this.#pace.wait(performance.now()))));
    }, wait);
  }

  /** Ends an idle wait; never polls more often than while busy, so that a thousand commits a second become batches. */
  #wake(): void {
    this.#interval = this.#pollMs;
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#schedule(this.#pace.wait(performance.now()));
  }

  async #poll(): Promise<void> {
    this.#pace.looked(performance.now());
    this.#interval = Math.min(this.#interval * 2, IDLE_POLL_MS);
    try {
      const work = this.options.transport.accepting() ? await this.#withWork() : [];
      work.forEach(group => this.#passes.set(group, this.#pass(group)));
    } catch (error) {
      this.#complain(error);
    }
  }

  async #pass(group: RelayGroup): Promise<void> {
    try {
      if ((await group.pass()) > 0) this.#wake();
    } catch (error) {
      this.#complain(error);
    } finally {
      this.#passes.delete(group);
    }
  }

  #complain(error: unknown): void {
    if (!this.#stopped) this.options.log.warn({ err: errorOf(error) }, 'the relay could not reach the log; it is tried again');
  }

  async #withWork(): Promise<RelayGroup[]> {
    const idle = [...this.#groups].flatMap(([number, group]) => (this.#passes.has(group) ? [] : [number]));
    if (idle.length === 0) return [];
    const { rows } = await this.options.pool.query<{ g: number }>({
      name: 'events-relay-work',
      text: GROUPS_WITH_WORK,
      values: [idle],
    });
    return rows.flatMap(({ g }) => this.#groups.get(g) ?? []);
  }

  async #measure(): Promise<void> {
    const { pool, metrics, log } = this.options;
    try {
      const {
        rows: [row],
      } = await pool.query<{ events: number; seconds: number | null }>(UNPUBLISHED);
      metrics!.unpublished.set(row!.events);
      metrics!.oldestUnpublishedSeconds.set(row!.seconds ?? 0);
    } catch (error) {
      log.debug({ err: errorOf(error) }, 'the log could not be measured');
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#polling;
    await Promise.all(this.#passes.values());
    await Promise.all([...this.#groups.values()].map(group => group.drained()));
    for (const end of this.#ends) await end();
    await this.#keeper.stop();
    this.#groups.forEach((_, group) => this.#remove(group));
  }
}

/** The age comes from the id: `occurred_at` may be a manual clock's. */
const UNPUBLISHED = `
select count(*)::int as events, extract(epoch from clock_timestamp() - to_timestamp(
  ('x' || left(replace((array_agg(id order by seq))[1]::text, '-', ''), 12))::bit(48)::bigint / 1000.0))::float8 as seconds
from events.outbox where published_at is null`;

const FILE_GIVEN_UP = `
select events.park($1, json_build_object('id', gen_random_uuid(), 'event_id', $2::uuid, 'replay_id', '00000000-0000-0000-0000-000000000000', 'order_key', $3::text,
  'seq', $4::bigint, 'type', $5::text, 'status', 'dead', 'reason', 'crash_loop', 'error_class', 'DeliveryLimit', 'error_message', 'given up by the broker'), clock_timestamp())`;
