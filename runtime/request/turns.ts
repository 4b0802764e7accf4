/** Lets so much work run at once, and so much more wait its turn, first come first served. For work that costs memory or a core. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** `full` makes what those are told who find the queue full. */
  constructor(
    atOnce: number,
    private readonly queue: number,
    private readonly full: () => Error,
  ) {
    this.#free = atOnce;
  }

  /** @throws the error of `full` when too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else if (this.#waiting.length >= this.queue) throw this.full();
    else await new Promise<void>(resolve => this.#waiting.push(resolve)); // whoever ends hands its place on
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
