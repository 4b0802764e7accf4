import type { JobDatabase } from './database.js';
import type { JobEngine, Settlement, Success } from './engine.js';

/** Attempts settled in one transaction at most, and how long the first of them waits for more, ms. */
const BATCH_ROWS = 200;
const BATCH_MS = 10;

interface Ended extends Success {
  resolve(settlement: Settlement): void;
  reject(error: unknown): void;
}

/** Settles attempts that succeeded in batches: one transaction for what ended within 10 ms, one at a time. */
export class Settler {
  readonly #waiting: Ended[] = [];
  #busy = false;
  #wake: (() => void) | null = null;

  /** @param running how many attempts are in hand, those that wait here among them: where all wait, nobody else is waited for. */
  constructor(
    private readonly engine: JobEngine,
    private readonly database: JobDatabase,
    private readonly running: () => number,
  ) {}

  /** Resolves when it is committed. @throws the database's error about this one. */
  succeed(success: Success): Promise<Settlement> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...success, resolve, reject });
      if (this.#isFull()) this.#wake?.();
      if (!this.#busy) void this.#run();
    });
  }

  #isFull(): boolean {
    return this.#waiting.length >= Math.min(BATCH_ROWS, this.running());
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      if (!this.#isFull()) await this.#gathered();
      await this.#settle(this.#waiting.splice(0, BATCH_ROWS));
    }
    this.#busy = false;
  }

  async #gathered(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      setTimeout(resolve, BATCH_MS);
    });
    this.#wake = null;
  }

  async #settle(batch: readonly Ended[]): Promise<void> {
    try {
      const settled = await this.database.transaction(sql => this.engine.succeed(sql, batch));
      for (const one of batch) one.resolve(settled.has(one.claim.id) ? 'succeeded' : null);
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(error);
      else for (const one of batch) await this.#settle([one]); // what one of them cannot store is no reason to lose the others
    }
  }
}
