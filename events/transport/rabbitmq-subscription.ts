import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelModel } from 'amqplib';
import type pg from 'pg';
import { errorOf, type EventLog } from '../log.js';
import type { ConsumerSpec, Delivery, Settled, Subscription } from './port.js';
import { QueueConsumer } from './rabbitmq-queue.js';
import { declare, unbindPartition, type Names } from './rabbitmq-topology.js';
import { drainingGenerations, partitionDrained } from './registration.js';

export interface RabbitSubscriptionOptions {
  spec: ConsumerSpec;
  names: Names;
  pool: pg.Pool;
  log: EventLog;
  /** Identifies this process among those that could empty an old queue. */
  holder: string;
  onMessage(delivery: Delivery): Promise<Settled>;
  closed(): void;
}

const DRAIN_LEASE_MS = 10_000;
const DRAIN_CHECK_MS = 500;

/** One consumer in this process: a channel per partition queue, of which the broker keeps one active over all processes. */
export class RabbitSubscription implements Subscription {
  #model: ChannelModel | undefined;
  #queues: QueueConsumer[] = [];
  #paused = false;
  #closed = false;
  #work: Promise<void> = Promise.resolve();
  readonly #ending = new AbortController();

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

  /** One change after the other. */
  #queue(change: () => Promise<void>): void {
    this.#work = this.#work.then(change).catch(error => {
      if (!this.#closed)
        this.options.log.warn(
          { err: errorOf(error), consumer: this.options.spec.name },
          'a consumer could not be opened; the next connection tries again',
        );
    });
  }

  #current(model: ChannelModel): boolean {
    return this.#model === model && !this.#paused && !this.#closed;
  }

  /** Queues of an older generation are emptied first: its events come before those of this one. */
  async #open(model: ChannelModel): Promise<void> {
    await this.#shut();
    await this.#drainOlder(model);
    const {
      spec: { name, generation, partitions },
    } = this.options;
    if (!this.#current(model)) return;
    await this.#consume(
      model,
      Array.from({ length: partitions }, (_, partition) => ({ generation, partition })),
      name,
    );
  }

  async #consume(model: ChannelModel, parts: readonly { generation: number; partition: number }[], name: string): Promise<void> {
    const { names, log, onMessage } = this.options;
    this.#queues = parts.map(
      ({ generation, partition }) => new QueueConsumer({ queue: names.queue(name, generation, partition), log, onMessage }),
    );
    await Promise.all(this.#queues.map(queue => queue.open(model)));
  }

  async #drainOlder(model: ChannelModel): Promise<void> {
    const {
      pool,
      spec: { name },
      names,
      log,
    } = this.options;
    for (
      let old = await drainingGenerations(pool, name);
      old.length > 0 && this.#current(model);
      old = await drainingGenerations(pool, name)
    ) {
      if (await this.#leads()) {
        log.info({ consumer: name, queues: old.length }, 'emptying the queues of an older generation');
        await declare(
          model,
          old.map(
            ({ generation, partition }) =>
              channel =>
                unbindPartition(channel, names, name, generation, partition),
          ),
        );
        await this.#consume(model, old, name);
        await this.#emptied(model, old);
        await this.#shut();
      } else await this.#pause();
    }
  }

  /** One process empties; the others wait until it is done. */
  async #leads(): Promise<boolean> {
    const {
      pool,
      spec: { name },
      holder,
    } = this.options;
    const { rows } = await pool.query('select from events.lease($1::text[], $2, $3)', [[`drain:${name}`], holder, DRAIN_LEASE_MS]);
    return rows.length > 0;
  }

  /** A queue is empty when nothing is ready, nothing is in hand here, and nobody else consumes it. */
  async #emptied(model: ChannelModel, old: readonly { generation: number; partition: number }[]): Promise<void> {
    const {
      pool,
      spec: { name },
      names,
    } = this.options;
    const left = new Map(this.#queues.map((queue, index) => [queue, old[index]!]));
    while (left.size > 0 && this.#current(model) && (await this.#leads())) {
      for (const [queue, { generation, partition }] of left) {
        const { ready, consumers } = await queue.check();
        if (ready > 0 || consumers > 1 || queue.inFlight > 0) continue;
        await queue.close();
        await declare(model, [channel => channel.deleteQueue(names.queue(name, generation, partition))]);
        await partitionDrained(pool, name, generation, partition);
        left.delete(queue);
      }
      if (left.size > 0) await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    await sleep(DRAIN_CHECK_MS, undefined, { signal: this.#ending.signal, ref: false }).catch(() => undefined); // closing ends the wait
  }

  async #shut(): Promise<void> {
    await Promise.all(this.#queues.splice(0).map(queue => queue.close()));
  }

  async pause(): Promise<void> {
    this.#paused = true;
    this.#queue(() => this.#shut());
    await this.#work;
  }

  async resume(): Promise<void> {
    this.#paused = false;
    const model = this.#model;
    if (model) this.#queue(() => this.#open(model));
    await this.#work;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ending.abort();
    this.options.closed();
    this.#queue(() => this.#shut());
    await this.#work;
  }
}
