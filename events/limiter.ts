/** At most `size` tasks at once, first come first served. Shared by the consumers of a service, so that its pool keeps a connection for requests. */
export class Limiter {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>(resolve => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next)
        next(); // the slot passes on
      else this.#free++;
    }
  }
}
