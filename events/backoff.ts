/** Waits that double up to a ceiling, each with full jitter, so that many processes do not knock at once. */
export class Backoff {
  #next: number;

  constructor(
    readonly first: number,
    readonly most: number,
  ) {
    this.#next = first;
  }

  /** Ms to wait now. */
  next(): number {
    const ceiling = this.#next;
    this.#next = Math.min(ceiling * 2, this.most);
    return ceiling * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#next = this.first;
  }
}
