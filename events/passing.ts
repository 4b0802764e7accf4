import { setImmediate as turn } from 'node:timers/promises';
import type { Condition } from './entrance.js';
import type { Envelope } from './envelope.js';
import { GivenBack } from './failure.js';
import type { Inbox, Passed } from './inbox.js';
import type { Sql } from './outbox.js';
import type { Delivery } from './transport/port.js';

/** Events in one statement at most: with two or three locks each they stay far below the 6,400 that a server has room for. */
const MOST = 50;
/** Together they wait for a lock of somebody else so long, ms; then each waits by itself. */
const PATIENCE_MS = 100;

export interface PassingOptions {
  inbox: Inbox;
  /** Whether nothing is to be begun for an event any more. */
  isGivenBack(delivery: Delivery): boolean;
  /** Runs a task within the limits of concurrency. */
  limited<T>(task: () => Promise<T>): Promise<T>;
  /** A transaction of the service for these events. */
  transaction<T>(events: readonly Envelope[], work: (sql: Sql) => Promise<T>): Promise<T>;
}

interface Waiting extends Passed {
  resolve(isNoted: boolean): void;
  reject(error: unknown): void;
}

/**
 * Notes a consumer's events that its handlers have nothing to do with: those at hand at the same time by one statement with one commit. While
 * one is under way the next ones gather; one that comes alone is noted at once. No two of them are of one key: its next event is taken up
 * when the one before is settled.
 */
export class Passing {
  /** By the text of their condition. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(private readonly options: PassingOptions) {}

  /** False: nothing was written; the event is to take the usual way. @throws GivenBack, or what the database says of this event alone. */
  note(delivery: Delivery, condition: Condition): Promise<boolean> {
    const { text } = condition;
    const running = this.#waiting.get(text);
    const waiting = running ?? [];
    return new Promise((resolve, reject) => {
      waiting.push({ delivery, condition, resolve, reject });
      if (running) return;
      this.#waiting.set(text, waiting);
      void this.#run(text, waiting);
    });
  }

  async #run(text: string, waiting: Waiting[]): Promise<void> {
    await turn(); // what came with one read of the queue is at hand by then
    while (waiting.length > 0) await this.#together(waiting);
    this.#waiting.delete(text);
  }

  /** What waits when the transaction begins. Where it fails, each is noted by itself, and nobody waits for that. */
  async #together(waiting: Waiting[]): Promise<void> {
    let batch: readonly Waiting[] = [];
    const begin = (): Promise<void> => this.#note((batch = waiting.splice(0, MOST)), PATIENCE_MS);
    await this.options.limited(begin).catch(() => batch.forEach(one => void this.#alone(one)));
  }

  #alone(one: Waiting): Promise<void> {
    return this.options.limited(() => this.#note([one], null)).catch(one.reject);
  }

  /** @param patienceMs null: without a limit. */
  async #note(all: readonly Waiting[], patienceMs: number | null): Promise<void> {
    const { inbox, isGivenBack, transaction } = this.options;
    const batch = all.filter(one => !isGivenBack(one.delivery));
    all.filter(one => !batch.includes(one)).forEach(one => one.reject(new GivenBack()));
    if (batch.length === 0) return;
    const events = batch.map(({ delivery }) => delivery.event);
    const noted = await transaction(events, sql => inbox.pass(sql, batch, patienceMs));
    batch.forEach(({ delivery, resolve }) => resolve(noted.has(delivery.event.id)));
  }
}
