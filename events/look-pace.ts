/** So many looks may follow each other quickly. */
const BURST = 8;

/**
 * How long to wait between two looks for work: a few follow each other quickly, so that what leads from one event to the next is soon done, and
 * in a stream each waits longer and finds more. A look costs the same statements whatever it finds: at 30 purchases a second, each with three
 * events to five consumers, quick looks alone were 11 of some 65.
 */
export class LookPace {
  /** Looks of late; falls by one in `steadyMs`. */
  #level = 0;
  #at = -Infinity;

  constructor(
    readonly quickMs: number,
    readonly steadyMs: number,
  ) {}

  /** Notes a look. @param now ms of a clock that only goes forward */
  looked(now: number): void {
    this.#level = Math.max(0, this.#level - (now - this.#at) / this.steadyMs) + 1;
    this.#at = now;
  }

  /** Ms until the next look. */
  wait(now: number): number {
    return Math.max(0, this.#at + this.#spacing - now);
  }

  get #spacing(): number {
    return this.#level > BURST ? this.steadyMs : this.quickMs;
  }
}
