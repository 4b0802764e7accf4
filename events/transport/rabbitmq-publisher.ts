import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfirmChannel } from 'amqplib';
import { bodyOf, type OutboxRow } from '../envelope.js';
import type { EventLog } from '../log.js';
import type { PublishResult, ReplayMark } from './port.js';
import { propertiesOf } from './rabbitmq-message.js';
import { routingKey } from './rabbitmq-topology.js';

interface Unconfirmed {
  sentAt: number;
  resolve(result: PublishResult): void;
}

const CHECK_MS = 500;

/** Publishes with confirms. A confirm that does not come means: not published. */
export class Publisher {
  readonly #unconfirmed = new Set<Unconfirmed>();
  readonly #returned = new Set<string>();
  #channel: ConfirmChannel | undefined;
  #blocked = false;
  readonly #check: NodeJS.Timeout;

  /** @param cut makes the connection anew: a channel whose confirms hang stays hung. */
  constructor(
    readonly exchange: string,
    readonly confirmTimeoutMs: number,
    readonly cut: () => void,
    readonly log: EventLog,
  ) {
    this.#check = setInterval(() => this.#expire(), CHECK_MS);
  }

  /** Whether the broker takes messages now. */
  get open(): boolean {
    return this.#channel !== undefined && !this.#blocked;
  }

  use(channel: ConfirmChannel): void {
    this.#channel = channel;
    this.#blocked = false;
    channel.on('error', () => undefined); // `close` follows
    channel.on('return', message => this.#returned.add(String(message.properties.messageId)));
    channel.on('close', () => this.#lose(channel));
  }

  /** The broker asks for a pause, or takes it back: the time does not count against the confirms. */
  block(blocked: boolean): void {
    this.#blocked = blocked;
    this.#unconfirmed.forEach(one => (one.sentAt = performance.now()));
    this.log.warn({ blocked }, blocked ? 'the broker is short of resources; publishing pauses' : 'publishing goes on');
  }

  /** @param to the consumer's exchange and the replay, for an event that is sent again. */
  send(row: OutboxRow, to: { exchange: string; replay: ReplayMark } | null = null): Promise<PublishResult> {
    const channel = this.#channel;
    if (!channel) return Promise.resolve('timeout');
    return new Promise(resolve => {
      const one: Unconfirmed = { sentAt: performance.now(), resolve };
      this.#unconfirmed.add(one);
      try {
        const [exchange, properties] = [to?.exchange ?? this.exchange, propertiesOf(row, to?.replay ?? null)];
        channel.publish(exchange, routingKey(row.slot, row.type), Buffer.from(bodyOf(row)), properties, error =>
          this.#settle(one, row, error),
        );
      } catch {
        this.#settle(one, row, new Error('channel closed')); // the channel went between two turns
      }
    });
  }

  /** `basic.return` comes before the confirm of the same message. */
  #settle(one: Unconfirmed, row: OutboxRow, error: Error | null): void {
    const returned = this.#returned.delete(row.id);
    if (!this.#unconfirmed.delete(one)) return;
    if (error) one.resolve(error.message === 'message nacked' ? 'nacked' : 'timeout');
    else one.resolve(returned ? 'unroutable' : 'confirmed');
  }

  #lose(channel: ConfirmChannel): void {
    if (this.#channel !== channel) return;
    this.#channel = undefined;
    this.#returned.clear();
    this.cut(); // a channel that failed alone takes the connection with it, so that one supervisor recovers both
  }

  #expire(): void {
    if (this.#blocked) return;
    const oldest = this.#unconfirmed.values().next().value;
    if (!oldest || performance.now() - oldest.sentAt < this.confirmTimeoutMs) return;
    this.log.warn({ unconfirmed: this.#unconfirmed.size }, 'the broker does not confirm; the connection is made anew');
    this.abandon();
    this.cut();
  }

  /** Everything unconfirmed counts as unpublished. */
  abandon(): void {
    this.#channel = undefined;
    this.#unconfirmed.forEach(one => one.resolve('timeout'));
    this.#unconfirmed.clear();
  }

  /** Waits for the confirms that are due, at most `ms`. */
  async drained(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (this.#unconfirmed.size > 0 && performance.now() < until) await sleep(10);
  }

  stop(): void {
    clearInterval(this.#check);
    this.abandon();
  }
}
