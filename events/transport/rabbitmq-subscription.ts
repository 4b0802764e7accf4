import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel, ChannelModel } from 'amqplib';
import type pg from 'pg';
import { Backoff } from '../backoff.js';
import { takeLease } from '../lease-table.js';
import { errorOf, type EventLog } from '../log.js';
import type { ConsumerSpec, Delivery, Settled, Subscription } from './port.js';
import { QueueConsumer } from './rabbitmq-queue.js';
import { unlessMissing } from './rabbitmq-removal.js';
import { declare, partsOf, unbindPart, type Names } from './rabbitmq-topology.js';
import { drainingParts, partDrained, type QueuePart } from './registration.js';

export interface RabbitSubscriptionOptions {
  spec: ConsumerSpec;
  names: Names;
  pool: pg.Pool;
  log: EventLog;
  /** Identifies this process among those that could empty an old queue. */
  holder: string;
  /** Between two looks whether the broker still knows a consumer, ms. */
  lookMs: number | undefined;
  onMessage(delivery: Delivery): Promise<Settled>;
  closed(): void;
}

const DRAIN_LEASE_MS = 10_000;
const WAIT_MS = 500;
/** Longest wait until an opening that failed is tried again. */
const MOST_WAIT_MS = 5_000;

/** One consumer in this process: a channel per partition queue, of which the broker keeps one active over all processes. */
export class RabbitSubscription implements Subscription {
  #model: ChannelModel | undefined;
  #queues: QueueConsumer[] = [];
  /** The connection over which the queues are consumed: opening them twice would hand everything out once more. */
  #opened: ChannelModel | undefined;
  #paused = true;
  #closed = false;
  #work: Promise<void> = Promise.resolve();
  readonly #ending = new AbortController();
  readonly #backoff = new Backoff(WAIT_MS, MOST_WAIT_MS);

  constructor(readonly options: RabbitSubscriptionOptions) {}

  get inFlight(): number {
    return this.#queues.reduce((sum, queue) => sum + queue.inFlight, 0);
  }

  /** Consumes over this connection; called again after each reconnect. */
  use(model: ChannelModel): void {
    this.#model = model;
    this.#queue(() => this.#open(model));
  }

  down(): void {
    this.#model = undefined;
  }

  /** One change after the other; an opening that fails is tried again. */
  #queue(change: () => Promise<void>): void {
    const { log, spec } = this.options;
    this.#work = this.#work.then(change).catch(async error => {
      if (this.#closed || !this.#model) return;
      log.warn({ err: errorOf(error), consumer: spec.name }, 'a consumer could not be opened; it is tried again');
      await this.#wait(this.#backoff.next());
      this.#queue(change);
    });
  }

  #current(model: ChannelModel): boolean {
    return this.#model === model && !this.#paused && !this.#closed;
  }

  /** Queues of an older generation are emptied first: its events come before those of this one. */
  async #open(model: ChannelModel): Promise<void> {
    if (!this.#current(model) || this.#opened === model) return;
    await this.#shut();
    await this.#drainOlder(model);
    if (!this.#current(model)) return;
    this.#opened = model;
    const { spec, names, log, lookMs, onMessage } = this.options;
    const queues = partsOf(spec).map(part => names.queue(spec.name, part));
    this.#queues = queues.map(queue => new QueueConsumer({ queue, log, lookMs, onMessage }));
    await Promise.all(this.#queues.map(queue => queue.open(model)));
    this.#backoff.reset();
  }

  async #drainOlder(model: ChannelModel): Promise<void> {
    const { pool, spec, names, log } = this.options;
    for (;;) {
      const old = await drainingParts(pool, spec.name);
      if (old.length === 0 || !this.#current(model)) return;
      if (await this.#leads()) {
        log.info({ consumer: spec.name, queues: old.length }, 'emptying the queues of an older generation');
        await declare(
          model,
          old.map(part => channel => unbindPart(channel, names, spec.name, part)),
        );
        await Promise.all(old.map(part => this.#empty(model, part)));
      }
      await this.#wait();
    }
  }

  /** One process empties; the others wait until it is done. */
  #leads(): Promise<boolean> {
    const { pool, spec, holder } = this.options;
    return takeLease(pool, `drain:${spec.name}`, holder, DRAIN_LEASE_MS);
  }

  /**
   * Consumes an old queue until it looks empty, then lets go of it and looks again: only a queue that nobody consumes
   * and in which nothing is ready holds nothing unacknowledged either. One that is gone holds nothing.
   */
  async #empty(model: ChannelModel, part: QueuePart): Promise<void> {
    const { pool, spec, names, log, lookMs, onMessage } = this.options;
    const queue = names.queue(spec.name, part);
    while (this.#current(model) && (await this.#leads())) {
      if (!(await look(model, queue))) return partDrained(pool, spec.name, part);
      const consumer = new QueueConsumer({ queue, log, lookMs, onMessage });
      this.#queues = [...this.#queues, consumer];
      await consumer.open(model);
      do await this.#wait();
      while (this.#current(model) && (consumer.inFlight > 0 || (await look(model, queue))?.ready));
      await consumer.close();
      await this.#wait();
      const seen = await look(model, queue);
      if (seen && (seen.ready > 0 || seen.consumers > 0)) continue;
      await declare(model, [channel => channel.deleteQueue(queue)]);
      return partDrained(pool, spec.name, part);
    }
  }

  async #wait(ms = WAIT_MS): Promise<void> {
    await sleep(ms, undefined, { signal: this.#ending.signal, ref: false }).catch(() => undefined); // closing ends the wait
  }

  async #shut(): Promise<void> {
    this.#opened = undefined;
    await Promise.all(this.#queues.splice(0).map(queue => queue.close()));
  }

  async pause(): Promise<void> {
    this.#paused = true;
    this.#queue(() => this.#shut());
    await this.#work;
  }

  /** Does not wait until the queues are open: those of an older generation may have to be emptied first. */
  async resume(): Promise<void> {
    this.#paused = false;
    const model = this.#model;
    if (model) this.#queue(() => this.#open(model));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ending.abort();
    this.options.closed();
    this.#queue(() => this.#shut());
    await this.#work;
  }
}

/** Ready messages and active consumers of a queue, as the broker sees them; null where it is gone. */
async function look(model: ChannelModel, queue: string): Promise<{ ready: number; consumers: number } | null> {
  let seen: { ready: number; consumers: number } | null = null;
  const check = async (channel: Channel): Promise<void> => {
    const { messageCount, consumerCount } = await channel.checkQueue(queue);
    seen = { ready: messageCount, consumers: consumerCount };
  };
  await declare(model, [check]).catch(unlessMissing);
  return seen;
}
