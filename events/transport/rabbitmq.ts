import { AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel as BrokerChannel, ChannelModel, ConsumeMessage } from 'amqplib';
import type pg from 'pg';
import type { OutboxRow } from '../envelope.js';
import { errorOf, type EventLog } from '../log.js';
import { progressOf, replaysInHand } from '../progress.js';
import type { Pressure } from '../replay-pace.js';
import {
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
import { BrokerConnection } from './rabbitmq-connection.js';
import { queuesOf } from './rabbitmq-held.js';
import { RabbitHints } from './rabbitmq-hints.js';
import { Publisher } from './rabbitmq-publisher.js';
import { QueueConsumer } from './rabbitmq-queue.js';
import { RabbitSubscription } from './rabbitmq-subscription.js';
import {
  coreDeclarations,
  declare,
  declareAll,
  DECLARATION_MS,
  exchangeDeclarations,
  isDone,
  Names,
  partsOf,
  queueDeclarations,
  typeDeclarations,
  typeRemovals,
} from './rabbitmq-topology.js';
import { removeConsumer, unlessMissing } from './rabbitmq-removal.js';
import { partsOfConsumer, registerConsumer, registeredConsumers } from './registration.js';

export interface RabbitOptions {
  /** `amqp://` or `amqps://`, with the vhost. */
  url: string;
  /** Connections that act as `platform_events`: consumers are registered there. */
  pool: pg.Pool;
  log: EventLog;
  /** First part of every object's name; default `platform`. */
  prefix?: string;
  /** Without a confirm for so long the connection is made anew, ms; default 10,000. */
  confirmTimeoutMs?: number;
  /** How long a start waits for the broker before it goes on without, ms; default 5,000. */
  connectWaitMs?: number;
  /** Between two looks whether the broker still knows this process's consumers, ms; default 30,000. */
  lookMs?: number;
}

const READY_MS = 10_000;
/** What a consumer's queues held, and when at the latest by the database's clock. */
interface Look {
  ready: number;
  at: Date;
}

/** What has left a queue is in a process's hand so soon, ms. */
const NOTE_DELAY_MS = 100;
/** From 3.12 on a broker always has the feature flag `stream_queue`; 100 × major + minor. */
const STREAMS_ALWAYS = 312;

/** Events through RabbitMQ ≥ 3.10: quorum queues, single active consumers, confirms. Source: event-machinery 5. */
export function createRabbitTransport(options: RabbitOptions): Transport {
  return new RabbitTransport(options);
}

class RabbitTransport implements Transport {
  readonly kind = 'rabbitmq';
  readonly atomic = false;
  readonly #process = randomUUID();
  /** Whoever calls has a context of its own, such as a clock; what begins with the call belongs to everybody and runs without it. */
  readonly #own = new AsyncResource('events');
  readonly #names: Names;
  readonly #publisher: Publisher;
  readonly #hints: RabbitHints;
  readonly #out: BrokerConnection;
  readonly #in: BrokerConnection;
  readonly #specs = new Map<string, ConsumerSpec>();
  readonly #subscriptions = new Map<string, RabbitSubscription>();
  readonly #wakers = new Set<() => void>();
  /** Of consumers with a replay, until notes are newer. */
  readonly #looks = new Map<string, Look>();
  /** As known when the publishing connection was set up, and what this process has declared since. */
  #registered: readonly ConsumerSpec[] = [];
  #givenUp: QueueConsumer | undefined;
  #streams = true;
  #firstWait: Promise<boolean> | undefined;
  #closed = false;

  constructor(readonly options: RabbitOptions) {
    const { url, log, prefix = 'platform', confirmTimeoutMs = 10_000 } = options;
    const name = `${prefix}@${hostname()}:${process.pid}`;
    this.#names = new Names(prefix);
    this.#publisher = new Publisher({
      exchange: this.#names.exchange,
      confirmTimeoutMs,
      log,
      queuesOf: (slot, type) => queuesOf(this.#names, this.#registered, slot, type),
      cut: () => this.#out.cut(),
      released: () => this.#wakers.forEach(waker => waker()),
    });
    this.#hints = new RabbitHints(this.#names, log);
    this.#out = new BrokerConnection({
      url,
      log,
      name: `${name} publish`,
      setUp: model => this.#setUpOut(model),
      down: () => this.#publisher.abandon(),
    });
    this.#in = new BrokerConnection({
      url,
      log,
      name: `${name} consume`,
      setUp: model => this.#setUpIn(model),
      down: () => this.#subscriptions.forEach(one => one.down()),
    });
  }

  /** Before the first publish every registered consumer has its queues again, even on a broker that lost its disks. */
  async #setUpOut(model: ChannelModel): Promise<void> {
    this.#registered = await registeredConsumers(this.options.pool);
    await this.#declareWithin(model, this.#registered, true);
    model.on('blocked', () => this.#publisher.block(true));
    model.on('unblocked', () => this.#publisher.block(false));
    await this.#hints.use(model);
    this.#publisher.use(await model.createConfirmChannel());
    this.#wakers.forEach(waker => waker());
  }

  /** As registered, not as this process knows it: a newer version of a service may have dropped a type meanwhile. */
  async #setUpIn(model: ChannelModel): Promise<void> {
    this.#streams = await this.#hasStreams(model);
    await this.#declareWithin(
      model,
      (await registeredConsumers(this.options.pool)).filter(({ name }) => this.#specs.has(name)),
    );
    if (this.#givenUp) await isDone(this.#givenUp.open(model), DECLARATION_MS);
    this.#subscriptions.forEach(subscription => subscription.use(model));
  }

  async #declare(model: ChannelModel, specs: readonly ConsumerSpec[]): Promise<void> {
    await declare(model, coreDeclarations(this.#names));
    await declare(model, exchangeDeclarations(this.#names, specs));
    await declare(model, queueDeclarations(this.#names, specs));
    await declare(model, typeDeclarations(this.#names, specs));
  }

  /** Goes on without the queues that do not answer. @param holding whether what they would miss is held back. */
  async #declareWithin(model: ChannelModel, specs: readonly ConsumerSpec[], holding = false): Promise<void> {
    const answers = await declareAll(model, this.#names, specs);
    if (!holding) return;
    for (const [{ queue, slots }, answer] of answers) {
      if (answer) this.#holdUntil(answer, queue, slots);
      else this.#publisher.held.release(queue);
    }
  }

  /** A queue that may not be there would miss what is published. */
  #holdUntil(answer: Promise<unknown>, queue: string, slots: readonly number[]): void {
    const { held } = this.#publisher;
    if (held.hold(slots, queue, `${queue} does not answer its declaration`))
      this.options.log.error({ queues: [queue], slots }, 'a queue does not answer; its partition waits, all others go on');
    void answer.then(
      () => {
        held.release(queue);
        this.options.log.info({ queue }, 'a queue answers again; its partition goes on');
        this.#wakers.forEach(waker => waker());
      },
      () => undefined,
    );
  }

  /** Dead-lettering at least once needs the feature flag; without it RabbitMQ silently falls back to at most once. */
  async #hasStreams(model: ChannelModel): Promise<boolean> {
    const [major = 0, minor = 0] = String(model.connection.serverProperties.version).split('.').map(Number);
    if (major * 100 + minor >= STREAMS_ALWAYS) return true;
    const queue = `${this.#names.prefix}.probe.${this.#process}`;
    const probe = declare(model, [
      async channel => {
        await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'stream' } });
        await channel.deleteQueue(queue);
      },
    ]);
    return isDone(probe, DECLARATION_MS).then(
      () => true, // or it does not answer: the next connection asks again
      () => false,
    );
  }

  async ensureTopology(consumers: readonly ConsumerSpec[]): Promise<void> {
    const removals = [];
    const attached = [];
    for (const spec of consumers) {
      const before = await registerConsumer(this.options.pool, spec, true);
      this.#specs.set(spec.name, spec);
      this.#registered = [...this.#registered.filter(({ name }) => name !== spec.name), spec];
      if (before?.detached) continue;
      attached.push(spec);
      removals.push(
        ...typeRemovals(
          this.#names,
          spec.name,
          (before?.types ?? []).filter(type => !spec.types.includes(type)),
        ),
      );
    }
    const model = await this.#broker();
    if (!model) return; // declared as soon as the broker is there
    await this.#declare(model, attached);
    await declare(model, removals);
  }

  /** The consuming connection. The first who asks waits for it; with 28 services nobody else does. */
  async #broker(): Promise<ChannelModel | undefined> {
    this.#firstWait ??= this.#in.whenUp(this.options.connectWaitMs ?? 5_000);
    await this.#firstWait;
    return this.#in.model;
  }

  publish(batch: readonly OutboxRow[], _lease: GroupLease): Promise<PublishResult[]> {
    return Promise.all(batch.map(row => this.#publisher.send(row)));
  }

  /** Per key one unconfirmed event, as in the relay. */
  async replay({ name }: ConsumerSpec, rows: readonly OutboxRow[], replay: ReplayMark): Promise<void> {
    const to = { exchange: this.#names.consumerExchange(name), replay };
    const chain = async (key: string): Promise<void> => {
      for (const row of rows.filter(one => one.order_key === key)) {
        const result = await this.#publisher.send(row, to);
        if (result === 'nacked' || result === 'timeout') throw new Error(`a replayed event was not taken: ${result}`);
      }
    };
    await Promise.all([...new Set(rows.map(row => row.order_key))].map(chain));
  }

  heldSlots(): readonly number[] {
    return this.#publisher.held.slots;
  }

  causeOfHold(slot: number): string | null {
    return this.#publisher.held.causeOf(slot);
  }

  accepting(): boolean {
    this.#out.start();
    return this.#publisher.open;
  }

  async consume(spec: ConsumerSpec, onMessage: (delivery: Delivery) => Promise<Settled>): Promise<Subscription> {
    if (this.#subscriptions.has(spec.name)) throw new Error(`${spec.name} runs in this process already`);
    const { pool, log, lookMs } = this.options;
    const subscription = new RabbitSubscription({
      spec,
      names: this.#names,
      pool,
      log,
      holder: this.#process,
      lookMs,
      onMessage,
      closed: () => void this.#subscriptions.delete(spec.name),
    });
    this.#subscriptions.set(spec.name, subscription);
    this.#in.start();
    if (this.#in.model) subscription.use(this.#in.model);
    return subscription;
  }

  async detach(spec: ConsumerSpec): Promise<readonly string[]> {
    const model = await this.#broker();
    if (!model) throw new Error('the broker is away');
    const parts = await partsOfConsumer(this.options.pool, spec.name);
    return removeConsumer(model, this.#names, spec, parts);
  }

  depths(consumers: readonly string[]): Promise<Depth[]> {
    const depthOf = async (name: string): Promise<Depth> => {
      const spec = this.#specs.get(name) ?? (await registeredConsumers(this.options.pool)).find(one => one.name === name);
      const ready = spec ? await this.#ready(spec) : 0;
      const { inHand, oldestAt } = await progressOf(this.options.pool, name, ready);
      return { ready, unacked: Math.max(inHand, this.#subscriptions.get(name)?.inFlight ?? 0), oldestAt };
    };
    return Promise.all(consumers.map(depthOf));
  }

  /** Messages that wait in the queues of a consumer; 0 of one that is detached, and while the broker is away. */
  async #ready(spec: ConsumerSpec): Promise<number> {
    const counts: number[] = []; // the parts are looked at side by side
    const model = await this.#broker();
    const looks = partsOf(spec).map(part => async (channel: BrokerChannel) => {
      counts.push((await channel.checkQueue(this.#names.queue(spec.name, part))).messageCount);
    });
    if (model) await declare(model, looks).catch(unlessMissing);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * What waits in the queues, and then, from notes that are newer, what processes have in hand: the other way round an event that is
   * delivered between the two would be in neither, however long that takes. So the first answer after `since` is null.
   */
  async pressure(spec: ConsumerSpec, since: Date | null): Promise<Pressure | null> {
    const look = this.#looks.get(spec.name);
    if (since && !(look && look.at > since)) {
      this.#looks.set(spec.name, await this.#look(spec));
      return null;
    }
    const noted = since && new Date(look!.at.getTime() + NOTE_DELAY_MS);
    const inHand = await replaysInHand(this.options.pool, spec.name, noted);
    if (!inHand) return null;
    this.#looks.delete(spec.name);
    return { waiting: inHand.replaying + (since ? look!.ready : await this.#ready(spec)), lagMs: inHand.lagMs };
  }

  async #look(spec: ConsumerSpec): Promise<Look> {
    const ready = await this.#ready(spec);
    const { rows } = await this.options.pool.query<{ at: Date }>('select clock_timestamp() as at');
    return { ready, at: rows[0]!.at };
  }

  hint(channel: Channel, key: string, body: Json): void {
    this.#own.runInAsyncScope(() => {
      this.#out.start();
      void this.#hints.say({ channel, key, body });
    });
  }

  onHint(channel: Channel, key: string, listener: (body: Json, key: string) => void): HintSubscription {
    this.#own.runInAsyncScope(() => this.#out.start());
    return this.#hints.on(channel, key, listener);
  }

  /** The relay of another process polls; only this one's is woken. */
  wake(): void {
    this.#own.runInAsyncScope(() => this.#wakers.forEach(waker => waker()));
  }

  onWake(listener: () => void): HintSubscription {
    this.#wakers.add(listener);
    return { stop: () => void this.#wakers.delete(listener) };
  }

  async onGivenUp(file: (consumer: string, delivery: Delivery) => Promise<void>): Promise<Subscription> {
    const queue = this.#names.deadLetterQueue;
    const { log, lookMs } = this.options;
    const givenUp = new QueueConsumer({ queue, log, lookMs, onMessage: (delivery, message) => this.#file(delivery, message, file) });
    this.#givenUp = givenUp;
    this.#in.start();
    if (this.#in.model) await givenUp.open(this.#in.model);
    const close = async (): Promise<void> => {
      this.#givenUp = undefined;
      await givenUp.close();
    };
    return { pause: () => givenUp.close(), resume: async () => this.#in.model && givenUp.open(this.#in.model), close };
  }

  /** Filed before it is acknowledged, however long the database is away. */
  async #file(delivery: Delivery, message: ConsumeMessage, file: (consumer: string, delivery: Delivery) => Promise<void>): Promise<void> {
    const queue = String(message.properties.headers?.['x-death']?.[0]?.queue ?? '');
    const consumer = this.#names.consumerOf(queue);
    if (!consumer) return this.options.log.error({ event: delivery.event.id, queue }, 'a dead letter of the broker names no consumer');
    while (!delivery.stale()) {
      try {
        return await file(consumer, delivery);
      } catch (error) {
        this.options.log.warn({ err: errorOf(error), consumer }, 'a dead letter of the broker could not be filed; it is tried again');
        await sleep(1_000);
      }
    }
    throw new Error('the message will be delivered again');
  }

  ready(): Readiness {
    if (!this.#streams) return { ok: false, reason: 'the broker lacks the feature flag stream_queue' };
    const ok = Math.max(this.#in.downFor(), this.#out.downFor()) < READY_MS;
    return { ok, reason: ok ? null : 'the broker was not reached for 10 s' };
  }

  async close({ drainMs }: { drainMs: number }): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([...this.#subscriptions.values()].map(subscription => subscription.close()));
    await this.#givenUp?.close();
    await this.#publisher.drained(drainMs);
    this.#publisher.stop();
    await Promise.all([this.#out.close(), this.#in.close()]);
  }
}
