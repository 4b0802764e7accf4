import { AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { NO_REPLAY, systemNow, timeOfId, type OutboxRow } from '../envelope.js';
import { sqlStateOf } from '../failure.js';
import { planWithIndexes } from '../index-plans.js';
import { EventLeases } from '../lease-table.js';
import { LeaseKeeper } from '../leases.js';
import { errorOf, type EventLog } from '../log.js';
import { EmbeddedSubscription } from './embedded-subscription.js';
import { HintHub, type Hint } from './hints.js';
import { Listener } from './listener.js';
import type { Pressure } from '../replay-pace.js';
import {
  LeaseLost,
  type Channel,
  type ConsumerSpec,
  type Delivery,
  type Depth,
  type GroupLease,
  type HintSubscription,
  type Json,
  type PublishResult,
  type Readiness,
  type ReplayMark,
  type Settled,
  type Subscription,
  type Transport,
} from './port.js';
import { registerConsumer } from './registration.js';

export interface EmbeddedOptions {
  /** Connections that act as `platform_events`; shared with the relay. */
  pool: pg.Pool;
  log: EventLog;
  /** Length of a partition's lease, ms; default 10,000. */
  leaseMs?: number;
  /** Wait between two looks at the queue, ms; default 200. The poll is the truth, notifications only shorten it. */
  pollMs?: number;
}

const READY_MS = 10_000;
/** The same in a process without consumers, which only finds out whether the queue can be reached; not so long that the connection is let go, ms. */
const NO_CONSUMER_POLL_MS = 1_500;
/** Notifications are gathered for this long, ms: each of them takes a database-wide lock at its commit. */
const GATHER_MS = 20;
/** PostgreSQL refuses a longer payload, bytes. */
const MAX_NOTIFY = 7_900;

/** Events through PostgreSQL alone: for development, tests and small installations. Source: event-machinery 6. */
export function createEmbeddedTransport(options: EmbeddedOptions): Transport {
  return new EmbeddedTransport(options);
}

const QUEUE_REPLAY = `
insert into events.queue (consumer, slot, seq, event_id, replay_id)
select $1, r.slot, r.seq, r.id, $2::uuid from unnest($3::smallint[], $4::bigint[], $5::uuid[]) r(slot, seq, id) on conflict do nothing`;

/** Of the live ones the oldest; of a replay's no more than it ever sends at once. */
const PRESSURE = `
select (select count(*)::int from (select from events.queue where consumer = $1 and replay_id <> $2 limit 1000) r) as waiting,
  (select event_id from events.queue where consumer = $1 and replay_id = $2 order by seq limit 1) as oldest`;

const DEPTHS = `
select consumer, count(*)::int as events, (array_agg(event_id order by seq) filter (where replay_id = $2))[1] as oldest
from events.queue where consumer = any ($1) group by consumer`;

type Message = { from: string; consumers?: string[] } & Partial<Hint>;

/** Whoever reaches the database may notify. */
function parse(payload: string): Message | null {
  try {
    return JSON.parse(payload) as Message;
  } catch {
    return null;
  }
}

class EmbeddedTransport implements Transport {
  readonly kind = 'embedded';
  readonly atomic = true;
  readonly #process = randomUUID();
  /** Whoever calls has a context of its own, such as a clock; what begins with the call belongs to everybody and runs without it. */
  readonly #own = new AsyncResource('events');
  readonly #subscriptions = new Map<string, EmbeddedSubscription>();
  readonly #hints = new HintHub();
  /** Who is woken, and whether he is alone. */
  readonly #wakers = new Map<() => void, () => boolean>();
  readonly #keeper: LeaseKeeper;
  readonly #listener: Listener;
  #polledAt = performance.now();
  #poll: NodeJS.Timeout | undefined;
  #news = new Set<string>();
  /** Hints that other processes are to be told of. */
  #unsaid: string[] = [];
  #gathering: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(readonly options: EmbeddedOptions) {
    const { pool, leaseMs = 10_000, log } = options;
    planWithIndexes(pool);
    this.#keeper = new LeaseKeeper({ table: new EventLeases(pool), holder: this.#process, leaseMs, log });
    this.#listener = new Listener(
      options.pool,
      ['events_outbox', 'events_hint'],
      (channel, payload) => this.#heard(channel, payload),
      options.log,
    );
    this.#schedule();
  }

  async ensureTopology(consumers: readonly ConsumerSpec[]): Promise<void> {
    for (const spec of consumers) await registerConsumer(this.options.pool, spec, false);
  }

  async publish(batch: readonly OutboxRow[], { group, epoch }: GroupLease): Promise<PublishResult[]> {
    const names = await this.#enqueue(
      batch.map(row => row.id),
      group,
      epoch,
    );
    names.forEach(name => this.#subscriptions.get(name)?.wake());
    const elsewhere = names.filter(name => !this.#subscriptions.get(name)?.isAlone);
    if (elsewhere.length > 0) this.#announce(elsewhere);
    return batch.map(() => 'confirmed');
  }

  async #enqueue(ids: string[], group: number, epoch: number | null): Promise<string[]> {
    try {
      const {
        rows: [row],
      } = await this.options.pool.query<{ names: string[] }>('select events.mark_published($1, $2, $3::uuid[], true) as names', [
        group,
        epoch,
        ids,
      ]);
      return row!.names;
    } catch (error) {
      throw sqlStateOf(error) === 'EV001' ? new LeaseLost('the group has a new holder', { cause: error }) : error;
    }
  }

  async replay({ name }: ConsumerSpec, rows: readonly OutboxRow[], { id }: ReplayMark): Promise<void> {
    await this.options.pool.query(QUEUE_REPLAY, [name, id, rows.map(row => row.slot), rows.map(row => row.seq), rows.map(row => row.id)]);
    this.#subscriptions.get(name)?.wake();
    this.#announce([name]);
  }

  async pressure({ name }: ConsumerSpec): Promise<Pressure> {
    const { rows } = await this.options.pool.query<{ waiting: number; oldest: string | null }>(PRESSURE, [name, NO_REPLAY]);
    const { waiting, oldest } = rows[0]!;
    return { waiting, lagMs: oldest ? Math.max(0, systemNow() - timeOfId(oldest)) : 0 };
  }

  async detach({ name }: ConsumerSpec): Promise<readonly string[]> {
    const { rows } = await this.options.pool.query<{ event_id: string }>(
      'with gone as (delete from events.queue where consumer = $1 returning event_id, seq) select event_id from gone order by seq limit 1000',
      [name],
    );
    return rows.map(row => row.event_id);
  }

  accepting(): boolean {
    return !this.#closed;
  }

  async consume(spec: ConsumerSpec, onMessage: (delivery: Delivery) => Promise<Settled>): Promise<Subscription> {
    if (this.#subscriptions.has(spec.name)) throw new Error(`${spec.name} runs in this process already`);
    const subscription = new EmbeddedSubscription(spec, this.options.pool, this.#keeper, this.options.log, onMessage);
    this.#subscriptions.set(spec.name, subscription);
    this.#schedule();
    await subscription.start();
    const close = async (): Promise<void> => {
      this.#subscriptions.delete(spec.name);
      await subscription.close();
    };
    return { pause: () => subscription.pause(), resume: () => subscription.resume(), close };
  }

  #schedule(): void {
    const { pollMs = 200 } = this.options;
    clearTimeout(this.#poll);
    const wait = this.#subscriptions.size > 0 ? pollMs : NO_CONSUMER_POLL_MS;
    this.#poll = setTimeout(() => void this.#look().finally(() => !this.#closed && this.#schedule()), wait);
  }

  /** One look for all consumers of the process. */
  async #look(): Promise<void> {
    try {
      const { rows } = await this.options.pool.query<{ name: string }>({
        name: 'events-queue-look',
        text: 'select name from unnest($1::text[]) name where exists (select from events.queue q where q.consumer = name)',
        values: [[...this.#subscriptions.keys()]],
      });
      this.#polledAt = performance.now();
      rows.forEach(({ name }) => this.#subscriptions.get(name)?.wake());
    } catch (error) {
      if (!this.#closed) this.options.log.debug({ err: errorOf(error) }, 'the queue could not be polled');
    }
  }

  async depths(consumers: readonly string[]): Promise<Depth[]> {
    const { rows } = await this.options.pool.query<{ consumer: string; events: number; oldest: string | null }>(DEPTHS, [
      consumers,
      NO_REPLAY,
    ]);
    const found = new Map(rows.map(row => [row.consumer, row]));
    return consumers.map(name => {
      const { events, oldest } = found.get(name) ?? { events: 0, oldest: null };
      const unacked = Math.min(this.#subscriptions.get(name)?.inFlight ?? 0, events);
      return { ready: events - unacked, unacked, oldestAt: oldest ? new Date(timeOfId(oldest)) : null };
    });
  }

  hint(channel: Channel, key: string, body: Json): void {
    this.#own.runInAsyncScope(() => this.#hint(channel, key, body));
  }

  #hint(channel: Channel, key: string, body: Json): void {
    const hint = { channel, key, body };
    setImmediate(() => this.#tellHint(hint));
    const payload = JSON.stringify({ from: this.#process, ...hint });
    if (Buffer.byteLength(payload) > MAX_NOTIFY) return this.options.log.warn({ channel }, 'a hint is too long for other processes');
    if (this.#unsaid.push(payload) === 1) setImmediate(() => this.#notify('events_hint', this.#unsaid.splice(0))); // those of a commit together
  }

  onHint(channel: Channel, key: string, listener: (body: Json, key: string) => void): HintSubscription {
    return this.#hints.on(channel, key, listener);
  }

  wake(): void {
    this.#own.runInAsyncScope(() => {
      this.#wakers.forEach((_isAlone, waker) => waker());
      if (![...this.#wakers.values()].some(isAlone => isAlone())) this.#announce([]);
    });
  }

  onWake(listener: () => void, isAlone = () => false): HintSubscription {
    this.#wakers.set(listener, isAlone);
    return { stop: () => void this.#wakers.delete(listener) };
  }

  /** Tells the other processes which consumers have something; no name: the log has. */
  #announce(names: readonly string[]): void {
    names.forEach(name => this.#news.add(name));
    this.#gathering ??= setTimeout(() => {
      const payload = JSON.stringify({ from: this.#process, consumers: [...this.#news] });
      this.#news = new Set();
      this.#gathering = undefined;
      this.#notify('events_outbox', [
        Buffer.byteLength(payload) <= MAX_NOTIFY ? payload : JSON.stringify({ from: this.#process, consumers: ['*'] }),
      ]);
    }, GATHER_MS);
  }

  /** Outside any transaction. A loss costs a poll's wait. */
  #notify(channel: string, payloads: readonly string[]): void {
    if (this.#closed) return;
    this.options.pool
      .query('select pg_notify($1, payload) from unnest($2::text[]) payload', [channel, payloads])
      .catch(error => this.options.log.debug({ err: errorOf(error) }, 'a notification was lost'));
  }

  #heard(channel: string, payload: string): void {
    const message = parse(payload);
    if (!message || message.from === this.#process) return;
    if (channel === 'events_hint') return this.#tellHint(message as Hint);
    const names = message.consumers ?? [];
    if (names.length === 0) this.#wakers.forEach((_isAlone, waker) => waker());
    for (const [name, subscription] of this.#subscriptions) if (names.includes('*') || names.includes(name)) subscription.wake();
  }

  #tellHint(hint: Hint): void {
    this.#hints.tell(hint, error => this.options.log.warn({ err: errorOf(error), channel: hint.channel }, 'a hint listener failed'));
  }

  ready(): Readiness {
    const ok = performance.now() - this.#polledAt < READY_MS;
    return { ok, reason: ok ? null : 'the event queue was not reached for 10 s' };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#poll);
    clearTimeout(this.#gathering);
    await Promise.all([...this.#subscriptions.values()].map(subscription => subscription.close()));
    await this.#keeper.stop();
    await this.#listener.stop();
  }
}
