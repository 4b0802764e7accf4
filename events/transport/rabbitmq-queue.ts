import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { Backoff } from '../backoff.js';
import { errorOf, type EventLog } from '../log.js';
import type { Delivery } from './port.js';
import { Acks } from './rabbitmq-acks.js';
import { closed } from './rabbitmq-connection.js';
import { deliveryOf } from './rabbitmq-message.js';

/**
 * Never changed: a quorum queue of RabbitMQ 3 puts what a closing channel returns behind what was returned before, so a successor with
 * a smaller prefetch that closes in its turn would bring the order of a key into disorder. With the same one it takes up all of it first.
 */
const PREFETCH = 256;

/** Two looks in a row find no consumer before it is believed: a quorum queue without a leader answers with none, too. */
const LOOKS = 2;
const LOOK_MS = 30_000;

export interface QueueConsumerOptions {
  queue: string;
  log: EventLog;
  /** Between two looks whether the broker still knows this consumer, ms; default 30,000. */
  lookMs: number | undefined;
  /** Resolves when the message may be acknowledged; rejects when it will be delivered again. */
  onMessage(delivery: Delivery, message: ConsumeMessage): Promise<unknown>;
}

/**
 * Consumes one queue over a channel of its own. Never cancels and never requeues: a channel that closes gives everything back in order,
 * a cancelled consumer would let its successor start beyond messages still being handled.
 */
export class QueueConsumer {
  #channel: Channel | undefined;
  #acks: Acks | undefined;
  #model: ChannelModel | undefined;
  #inFlight = 0;
  #reopening: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  readonly #backoff = new Backoff(200, 5_000);

  constructor(readonly options: QueueConsumerOptions) {}

  get inFlight(): number {
    return this.#inFlight;
  }

  async open(model: ChannelModel): Promise<void> {
    this.#model = model;
    const channel = await model.createChannel();
    if (this.#model !== model) return; // closed meanwhile
    this.#channel = channel;
    this.#acks = new Acks(channel);
    channel.on('error', error => this.options.log.warn({ err: errorOf(error), queue: this.options.queue }, 'a channel failed'));
    channel.on('close', () => this.#lost(channel));
    await channel.prefetch(PREFETCH);
    await channel.consume(this.options.queue, message => this.#received(channel, message));
    this.#backoff.reset();
    this.#look(channel);
  }

  /**
   * RabbitMQ 3.10 does not always cancel the consumers of a queue that is deleted and soon declared again: they would wait for ever. Within
   * some milliseconds it may even go on handing out to them, unheard, which no look sees: nothing deletes a queue that is consumed.
   * @param without how many looks in a row found no consumer.
   */
  #look(channel: Channel, without = 0): void {
    if (this.#channel !== channel) return;
    clearTimeout(this.#looking);
    const again = async (): Promise<void> => {
      const { consumerCount } = await channel.checkQueue(this.options.queue);
      if (consumerCount > 0) return this.#look(channel);
      if (without + 1 < LOOKS) return this.#look(channel, without + 1);
      this.options.log.warn({ queue: this.options.queue }, 'the broker forgot a consumer; it consumes again');
      this.#restart(channel, 0);
    };
    this.#looking = setTimeout(() => void again().catch(() => undefined), this.options.lookMs ?? LOOK_MS); // a channel that fails is opened again
    this.#looking.unref();
  }

  /** A channel that fails alone is opened again; one that goes with its connection waits for the next. */
  #lost(channel: Channel): void {
    if (this.#channel !== channel) return;
    this.#channel = undefined;
    this.#acks!.drop();
    this.#reopen(this.#backoff.next());
  }

  #reopen(wait: number): void {
    const model = this.#model;
    if (!model) return;
    clearTimeout(this.#reopening);
    this.#reopening = setTimeout(() => {
      if (this.#model === model) this.open(model).catch(error => this.#failed(model, error));
    }, wait);
  }

  #failed(model: ChannelModel, error: unknown): void {
    if (this.#model !== model) return;
    this.options.log.debug({ err: errorOf(error), queue: this.options.queue }, 'a queue could not be consumed; it is tried again');
    this.#reopen(this.#backoff.next());
  }

  #received(channel: Channel, message: ConsumeMessage | null): void {
    if (this.#channel !== channel) return;
    if (!message) return this.#restart(channel, this.#backoff.next()); // the broker cancelled: the queue moves or is gone
    void this.#handle(channel, message);
  }

  async #handle(channel: Channel, message: ConsumeMessage): Promise<void> {
    this.#inFlight++;
    const acks = this.#acks!;
    acks.received(message);
    try {
      await this.options.onMessage(
        deliveryOf(message, () => this.#channel !== channel),
        message,
      );
      if (this.#channel === channel) acks.settled(message);
    } catch {
      // not settled: closing the channel gives it back in order
    } finally {
      this.#inFlight--;
    }
  }

  /** Begins anew on another channel. */
  #restart(channel: Channel, wait: number): void {
    if (this.#channel !== channel) return;
    this.#channel = undefined;
    this.#acks!.flush();
    void closed(channel).then(() => this.#reopen(wait));
  }

  /** What is not settled goes back to the queue in order. */
  async close(): Promise<void> {
    const channel = this.#channel;
    this.#model = undefined;
    this.#channel = undefined;
    clearTimeout(this.#reopening);
    clearTimeout(this.#looking);
    if (!channel) return;
    this.#acks!.flush();
    await closed(channel);
  }
}
