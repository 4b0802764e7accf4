import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfirmChannel } from 'amqplib';
import { Backoff } from '../backoff.js';
import { bodyOf, type OutboxRow } from '../envelope.js';
import type { EventLog } from '../log.js';
import type { PublishResult, ReplayMark } from './port.js';
import { HeldSlots } from './rabbitmq-held.js';
import { propertiesOf } from './rabbitmq-message.js';
import { routingKey } from './rabbitmq-topology.js';

interface Unconfirmed {
  row: OutboxRow;
  to: Target;
  sentAt: number;
  resolve(result: PublishResult): void;
}

/** The consumer's exchange and the replay, for an event that is sent again; null: to all consumers. */
type Target = { exchange: string; replay: ReplayMark } | null;

/** The broker has accepted it; it has refused it; the channel went before it said either. */
type Answer = 'taken' | 'refused' | 'none';

/** An event whose confirm did not come: it is sent again from time to time, until the queue answers. */
interface Stuck {
  row: OutboxRow;
  nextAt: number;
  backoff: Backoff;
}

export interface PublisherOptions {
  exchange: string;
  /** Without a confirm for so long a message counts as not published, ms. */
  confirmTimeoutMs: number;
  log: EventLog;
  /** Names of the queues that a message goes to. */
  queuesOf(slot: number, type: string): readonly string[];
  /** Makes the connection anew: a channel whose confirms all hang stays hung. */
  cut(): void;
  /** A slot that was held may be published again. */
  released(): void;
}

const CHECK_MS = 500;
/** Between two attempts at a queue that does not answer at most, ms; at first as long as a confirm may take. */
const RETRY_MOST_MS = 60_000;
/** Bound to no queue, so the broker confirms it at once while the channel is alive. */
const PING = 'ping';

/**
 * Publishes with confirms. A confirm that does not come means: not published. Whether the channel hangs or one queue does, a ping tells: it is
 * confirmed without any queue. A queue that does not answer holds back its slots alone.
 */
export class Publisher {
  readonly held = new HeldSlots();
  readonly #unconfirmed = new Set<Unconfirmed>();
  readonly #returned = new Set<string>();
  readonly #stuck = new Map<number, Stuck>();
  /** When a message of a routing key was confirmed last. */
  readonly #confirmedAt = new Map<string, { slot: number; type: string; at: number }>();
  #pingAt: number | null = null;
  #channel: ConfirmChannel | undefined;
  #blocked = false;
  readonly #check: NodeJS.Timeout;

  constructor(readonly options: PublisherOptions) {
    this.#check = setInterval(() => this.#look(), Math.min(CHECK_MS, options.confirmTimeoutMs));
  }

  /** Whether the broker takes messages now. */
  get open(): boolean {
    return this.#channel !== undefined && !this.#blocked;
  }

  use(channel: ConfirmChannel): void {
    this.#channel = channel;
    this.#blocked = false;
    this.#pingAt = null;
    this.#stuck.forEach(stuck => (stuck.nextAt = 0)); // the broker may be another
    channel.on('error', () => undefined); // `close` follows
    channel.on('return', message => this.#returned.add(String(message.properties.messageId)));
    channel.on('close', () => this.#lose(channel));
  }

  /** The broker asks for a pause, or takes it back: the time does not count against the confirms. */
  block(blocked: boolean): void {
    this.#blocked = blocked;
    this.#unconfirmed.forEach(one => (one.sentAt = performance.now()));
    this.#pingAt &&= performance.now();
    this.options.log.warn({ blocked }, blocked ? 'the broker is short of resources; publishing pauses' : 'publishing goes on');
  }

  send(row: OutboxRow, to: Target = null): Promise<PublishResult> {
    if (!this.#channel || this.held.causeOf(row.slot) !== null) return Promise.resolve('timeout');
    return new Promise(resolve => {
      const one: Unconfirmed = { row, to, sentAt: performance.now(), resolve };
      this.#unconfirmed.add(one);
      this.#publish(row, to, answer => this.#settle(one, answer));
    });
  }

  #publish(row: OutboxRow, to: Target, answered: (answer: Answer) => void): void {
    try {
      const [exchange, properties] = [to?.exchange ?? this.options.exchange, propertiesOf(row, to?.replay ?? null)];
      this.#channel!.publish(exchange, routingKey(row.slot, row.type), Buffer.from(bodyOf(row)), properties, error =>
        answered(answerOf(error)),
      );
    } catch {
      answered('none'); // the channel went between two turns
    }
  }

  /** `basic.return` comes before the confirm of the same message. */
  #settle(one: Unconfirmed, answer: Answer): void {
    const { row, resolve } = one;
    const returned = this.#returned.delete(row.id);
    if (answer === 'taken')
      this.#confirmedAt.set(routingKey(row.slot, row.type), { slot: row.slot, type: row.type, at: performance.now() });
    if (!this.#unconfirmed.delete(one)) return this.#late(row, answer);
    if (answer === 'none') resolve('timeout');
    else if (answer === 'refused') resolve('nacked');
    else resolve(returned ? 'unroutable' : 'confirmed');
  }

  /** A queue answers after all. */
  #late(row: OutboxRow, answer: Answer): void {
    if (answer === 'none' || !this.#stuck.delete(row.slot)) return;
    this.held.release(holderOf(row.slot));
    this.options.log.info({ slot: row.slot }, 'a queue confirms again; its partition goes on');
    this.options.released();
  }

  #lose(channel: ConfirmChannel): void {
    if (this.#channel !== channel) return;
    this.#channel = undefined;
    this.#returned.clear();
    this.options.cut(); // a channel that failed alone takes the connection with it, so that one supervisor recovers both
  }

  #look(): void {
    if (!this.open) return;
    const now = performance.now();
    for (const [slot, stuck] of this.#stuck) if (stuck.nextAt <= now) this.#tryAgain(slot, stuck, now);
    if (this.#overdue(now).length > 0) this.#ask(now);
  }

  #overdue(now: number): Unconfirmed[] {
    return [...this.#unconfirmed].filter(one => now - one.sentAt >= this.options.confirmTimeoutMs);
  }

  /** Is it the channel, or are it queues? */
  #ask(now: number): void {
    if (this.#pingAt !== null) {
      if (now - this.#pingAt >= this.options.confirmTimeoutMs) this.#hung();
      return;
    }
    this.#pingAt = now;
    const channel = this.#channel!;
    channel.publish(this.options.exchange, PING, Buffer.alloc(0), {}, error => {
      if (error || this.#channel !== channel) return;
      this.#pingAt = null;
      this.#overdue(now).forEach(one => this.#holdBack(one));
    });
  }

  #hung(): void {
    this.options.log.warn({ unconfirmed: this.#unconfirmed.size }, 'the broker does not confirm; the connection is made anew');
    this.abandon();
    this.options.cut();
  }

  #holdBack(one: Unconfirmed): void {
    const { row, sentAt, resolve } = one;
    const queues = this.#suspects(row, sentAt);
    const cause = `${queues.join(', ')} does not confirm`;
    if (!this.#stuck.has(row.slot)) {
      const backoff = new Backoff(this.options.confirmTimeoutMs, RETRY_MOST_MS);
      this.#stuck.set(row.slot, { row, nextAt: performance.now() + backoff.next(), backoff });
      this.options.log.error({ queues, slot: row.slot, event: row.id }, 'a queue does not confirm; its partition waits, all others go on');
    }
    this.held.hold([row.slot], holderOf(row.slot), cause);
    this.#unconfirmed.delete(one);
    resolve('timeout');
  }

  /** Queues of the message that have confirmed nothing else since; all of them where each has. */
  #suspects({ slot, type }: OutboxRow, sentAt: number): readonly string[] {
    const all = this.options.queuesOf(slot, type);
    const alive = new Set(
      [...this.#confirmedAt.values()].filter(({ at }) => at > sentAt).flatMap(one => this.options.queuesOf(one.slot, one.type)),
    );
    const silent = all.filter(queue => !alive.has(queue));
    return silent.length > 0 ? silent : all;
  }

  /** The same event once more: a copy of it is dropped by whoever has it. */
  #tryAgain(slot: number, stuck: Stuck, now: number): void {
    stuck.nextAt = now + stuck.backoff.next();
    this.options.log.warn({ slot, cause: this.held.causeOf(slot) }, 'a queue still does not confirm; it is tried again');
    this.#publish(stuck.row, null, answer => this.#late(stuck.row, answer));
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

const holderOf = (slot: number): string => `slot ${slot}`;

function answerOf(error: Error | null): Answer {
  if (!error) return 'taken';
  return error.message === 'message nacked' ? 'refused' : 'none';
}
