import { loggedError } from '../../../runtime/observe/log.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Signal } from '../commands/signal.js';

/** How often a process looks for what others left, ms. */
const LOOK_MS = 2_000;

/** A loop that works as long as there is work, then waits for a signal or the next look. A look that fails is taken again. */
export class Loop {
  #stopping = false;
  #running: Promise<void> = Promise.resolve();

  /**
   * @param step answers whether there was work.
   * @param failure what the log says when a step throws.
   */
  constructor(
    private readonly host: ServiceHost,
    private readonly signal: Signal,
    private readonly failure: string,
    private readonly step: () => Promise<boolean>,
  ) {}

  get stopping(): boolean {
    return this.#stopping;
  }

  /** @returns itself, running. */
  start(): this {
    this.#running = this.#run();
    return this;
  }

  /** Resolves when the step that runs has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.signal.notify();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) if (!(await this.#step()) && !this.#stopping) await this.signal.wait(LOOK_MS);
  }

  async #step(): Promise<boolean> {
    try {
      return await this.step();
    } catch (error) {
      this.host.log.warn({ err: loggedError(error) }, this.failure);
      return false;
    }
  }
}
