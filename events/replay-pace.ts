/** Events that a replay sends at first, at least and at most before the consumer has done them. */
const FIRST = 50;
const LEAST = 10;
/** What is sent at once is to be done so soon, ms: a live event waits behind it for so long. */
const TARGET_MS = 400;
/** A consumer whose live events are older is left alone, ms. Source: event-machinery 9, fairness. */
const MOST_LAG_MS = 1_000;

/** What a consumer has before it. */
export interface Pressure {
  /** Events of replays that it has not handled; on a broker that does not tell them apart, all that wait. */
  waiting: number;
  /** Age of its oldest live event, ms; 0 where none waits. */
  lagMs: number;
}

/** How much a replay sends at once, so that live events hardly wait: as much as the consumer does in a moment, and nothing while it lags. */
export class ReplayPace {
  #size = FIRST;
  /** Since when something was sent of which not half was seen done, and how much that is: parts of the log end anywhere. */
  #sentAt: number | null = null;
  #sent = 0;
  /** By the database's clock; null before the first events. */
  sentAt: Date | null = null;

  constructor(readonly most: number) {}

  /** How many events may be sent now. */
  room({ waiting, lagMs }: Pressure, now: number): number {
    if (lagMs > MOST_LAG_MS) return 0;
    if (this.sentAt !== null && waiting > this.#sent / 2) return Math.max(0, Math.floor(this.#limit() / 2) - waiting);
    if (this.#sentAt !== null) this.#adapt(now - this.#sentAt);
    [this.#sentAt, this.#sent] = [null, 0];
    return this.#limit();
  }

  #limit(): number {
    return Math.min(this.#size, this.most);
  }

  #adapt(tookMs: number): void {
    const wanted = Math.round((this.#size * TARGET_MS) / Math.max(1, tookMs));
    this.#size = Math.max(LEAST, Math.min(wanted, this.#size * 2, this.most));
  }

  sent(count: number, at: Date, now: number): void {
    this.sentAt = at;
    this.#sentAt ??= now;
    this.#sent += count;
  }
}
