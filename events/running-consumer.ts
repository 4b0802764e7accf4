import type pg from 'pg';
import { CATALOGUE } from './catalogue.js';
import type { Consumer, ConsumerHost, Handler } from './consumer.js';
import type { EventDefinition } from './define.js';
import type { Envelope } from './envelope.js';
import { Handling } from './handling.js';
import { KeyScheduler } from './key-scheduler.js';
import { Limiter } from './limiter.js';
import { errorOf } from './log.js';
import type { EventMetrics } from './metrics.js';
import { InHand } from './progress.js';
import { RetryWorker } from './retries.js';
import { Seeding } from './seeding.js';
import { Suspects } from './suspects.js';
import { partitionOf, type ConsumerSpec, type Delivery, type Settled, type Transport } from './transport/port.js';
import type { HandlerTable } from './verdict.js';
import { isPaused, watch } from './watch.js';

export interface ConsumerDeps {
  /** Connections that act as `platform_events`. */
  pool: pg.Pool;
  metrics?: EventMetrics;
  /** Bounds the handlers of a whole service: its pool minus one. */
  limiter?: Limiter;
  /** Event types by name; default the catalogue. */
  catalogue?: ReadonlyMap<string, EventDefinition>;
  /** Waits before the retries in memory, ms; default 200, 1000, 5000. */
  memoryRetryMs?: readonly number[];
}

export interface RunningConsumer {
  readonly name: string;
  /** The earliest instant at which a dead letter is to be retried, by the service's clock. */
  nextRetryAt(): Promise<Date | null>;
  /** Retries what is due at `now` and what waits behind it. Answers how many events were handled. */
  runRetries(now: Date): Promise<number>;
  /** Starts no further handler, waits for the running ones at most `drainMs`, then gives the rest back in order. */
  stop(options?: { drainMs?: number }): Promise<void>;
}

const DEFAULTS = {
  partitions: 4,
  generation: 1,
  concurrency: 16,
  retrySeconds: [30, 120, 600, 3600],
  handlerTimeoutMs: 20_000,
  onReplay: 'dedupe',
} as const;
const MEMORY_RETRY_MS = [200, 1_000, 5_000];
/** Longest wait for running handlers at shutdown. Source: event-machinery 5. */
const DRAIN_MS = 25_000;
const NAME = /^[a-z-]+\.[a-z_]+$/;

/** Declares the consumer's queues, then runs its handlers until it is stopped. @throws Error for an unknown event type or a foreign name. */
export async function startConsumer<Ctx>(
  consumer: Consumer<Ctx>,
  host: ConsumerHost<Ctx>,
  transport: Transport,
  deps: ConsumerDeps,
): Promise<RunningConsumer> {
  const running = new Running(consumer, host, transport, deps);
  await running.start();
  return running;
}

/** What the transport must know of a consumer. */
const specOf = <Ctx>(consumer: Consumer<Ctx>): ConsumerSpec => ({
  name: consumer.name,
  types: Object.keys(byName(consumer)),
  partitions: consumer.partitions ?? DEFAULTS.partitions,
  generation: consumer.generation ?? DEFAULTS.generation,
  onReplay: consumer.onReplay ?? DEFAULTS.onReplay,
  startAt: consumer.startAt,
});

function byName<Ctx>(consumer: Consumer<Ctx>): Readonly<Record<string, Handler<Ctx>>> {
  if (!Array.isArray(consumer.on)) return consumer.on as Readonly<Record<string, Handler<Ctx>>>;
  return Object.fromEntries(
    (consumer.on as readonly Handler<Ctx>[]).map(handler => {
      if (!handler.definition) throw new Error(`${consumer.name}: a handler in a list is made with handle()`);
      return [handler.definition.name, handler];
    }),
  );
}

function handlersOf<Ctx>(
  consumer: Consumer<Ctx>,
  host: ConsumerHost<Ctx>,
  catalogue: ReadonlyMap<string, EventDefinition>,
): HandlerTable<Ctx> {
  if (!NAME.test(consumer.name) || !consumer.name.startsWith(`${host.slug}.`))
    throw new Error(`${consumer.name} is not a consumer of ${host.slug}`);
  return new Map(
    Object.entries(byName(consumer)).map(([type, run]) => {
      const definition = run.definition ?? catalogue.get(type);
      if (definition?.name !== type) throw new Error(`${consumer.name} consumes ${type}, which is no event type`);
      return [type, { definition, run }];
    }),
  );
}

class Running<Ctx> implements RunningConsumer {
  readonly name: string;
  readonly #spec: ConsumerSpec;
  readonly #stopping = new AbortController();
  readonly #schedulers: KeyScheduler[];
  readonly #inHand = new InHand();
  readonly #handling: Handling<Ctx>;
  readonly #retries: RetryWorker<Ctx>;
  readonly #ends: (() => Promise<void>)[] = [];
  #seeding: Promise<void> = Promise.resolve();

  constructor(
    consumer: Consumer<Ctx>,
    readonly host: ConsumerHost<Ctx>,
    readonly transport: Transport,
    readonly deps: ConsumerDeps,
  ) {
    this.name = consumer.name;
    this.#spec = specOf(consumer);
    const { partitions } = this.#spec;
    const concurrency = consumer.concurrency ?? DEFAULTS.concurrency;
    this.#schedulers = Array.from({ length: partitions }, () => new KeyScheduler());
    this.#handling = new Handling({
      consumer: consumer.name,
      host,
      handlers: handlersOf(consumer, host, deps.catalogue ?? CATALOGUE),
      metrics: deps.metrics,
      stopping: this.#stopping.signal,
      rerun: this.#spec.onReplay === 'rerun',
      retrySeconds: consumer.retrySeconds ?? DEFAULTS.retrySeconds,
      memoryRetryMs: deps.memoryRetryMs ?? MEMORY_RETRY_MS,
      handlerTimeoutMs: consumer.handlerTimeoutMs ?? DEFAULTS.handlerTimeoutMs,
      prepare: consumer.prepare,
      read: consumer.read,
      passOver: consumer.passOver,
      suspects: new Suspects(deps.pool, consumer.name),
      onDisorder: event => this.#noteDisorder(event),
      limiters: [new Limiter(concurrency * partitions), ...(deps.limiter ? [deps.limiter] : [])],
    });
    this.#retries = new RetryWorker(this.#handling, deps.pool);
  }

  async start(): Promise<void> {
    await this.transport.ensureTopology([this.#spec]);
    const subscription = await this.transport.consume(this.#spec, delivery => this.#onMessage(delivery));
    const paused = await isPaused(this.deps.pool, this.name);
    if (!paused) await subscription.resume();
    const watching = watch(this.deps.pool, this.host.log, {
      consumer: this.name,
      paused,
      metrics: this.deps.metrics,
      standing: () => this.#inHand.standing,
      onWaiting: () => this.#retry(),
      onPaused: paused => (paused ? subscription.pause() : subscription.resume()),
      onSeeding: () => this.#seed(),
    });
    this.#ends.push(
      async () => watching.stop(),
      () => subscription.close(),
    );
  }

  /** For the alarm; what cannot be noted is in the log and the metrics. */
  #noteDisorder({ id }: Envelope): void {
    this.deps.pool
      .query('insert into events.disorder (consumer, event_id) values ($1, $2::uuid) on conflict do nothing', [this.name, id])
      .catch(error => this.host.log.warn({ err: errorOf(error), consumer: this.name }, 'a disorder could not be noted'));
  }

  /** The keys of a partition run side by side, one key strictly in the order of arrival. */
  #onMessage(delivery: Delivery): Promise<Settled> {
    const scheduler = this.#schedulers[partitionOf(delivery.slot, this.#spec.partitions)]!;
    return this.#inHand.during(delivery, () => scheduler.run(delivery.event.order_key, () => this.#handling.settle(delivery)));
  }

  /** Waits for its end at a stop, so that nobody writes any more. */
  #seed(): Promise<void> {
    const { deps, transport, host } = this;
    const onMessage = (delivery: Delivery): Promise<Settled> => this.#onMessage(delivery);
    const seeding = new Seeding({
      spec: this.#spec,
      pool: deps.pool,
      transport,
      log: host.log,
      stopping: this.#stopping.signal,
      onMessage,
    });
    this.#seeding = seeding.run().catch(error => {
      if (!this.#stopping.signal.aborted)
        host.log.warn({ err: errorOf(error), consumer: this.name }, 'seeding could not begin; it is tried again');
    });
    return this.#seeding;
  }

  async #retry(): Promise<void> {
    await this.#retries
      .run(await this.host.now())
      .catch(error => this.host.log.warn({ err: errorOf(error), consumer: this.name }, 'retries were interrupted'));
  }

  nextRetryAt(): Promise<Date | null> {
    return this.#retries.nextAt();
  }

  runRetries(now: Date): Promise<number> {
    return this.#retries.run(now);
  }

  async stop({ drainMs = DRAIN_MS }: { drainMs?: number } = {}): Promise<void> {
    this.#stopping.abort();
    await this.#handling.drained(drainMs);
    await this.#seeding;
    for (const end of this.#ends.splice(0)) await end();
  }
}
