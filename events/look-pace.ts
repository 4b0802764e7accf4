/** So many looks may follow each other quickly. */
const BURST = 8;

/**
 * How long to wait between two looks for work: a few follow each other quickly, so that what leads from one event to the next is soon done, and
 * in a stream each waits longer and finds more. A look costs the same statements whatever it finds: at 30 purchases a second, each with three
 * events to five consumers, quick looks alone were 11 of some 65.
 */
export class LookPace {
  /** Looks of late, one more than a burst at most, so that a stream is soon forgotten; falls by one in `steadyMs`. */
  #level = 0;
  #at = -Infinity;

  constructor(
    readonly quickMs: number,
    readonly steadyMs: number,
  ) {}

  /** Notes a look. @param now ms of a clock that only goes forward */
  looked(now: number): void {
    this.#level = Math.min(BURST, Math.max(0, this.#level - (now - this.#at) / this.steadyMs)) + 1;
    this.#at = now;
  }

  /** Ms until the next look. @param isThere something is known to wait: it is fetched without the pause of a stream */
  wait(now: number, isThere = false): number {
    const spacing = this.#level > BURST && !isThere ? this.steadyMs : this.quickMs;
    return Math.max(0, this.#at + spacing - now);
  }
}
