import type { ServiceHost } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import type { Worker } from '../../../runtime/service.js';
import { closeNext, closingSignalOf } from '../commands/closings.js';

/** How often a process looks for what others left, ms. */
const LOOK_MS = 2_000;

/** Closes what is left of subscriptions that ended, batch after batch, each in a transaction of its own. */
class ClosingRunner {
  #stopping = false;
  #running: Promise<void> = Promise.resolve();

  constructor(private readonly host: ServiceHost) {}

  start(): void {
    this.#running = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    closingSignalOf(this.host).notify();
    await this.#running;
  }

  async #loop(): Promise<void> {
    while (!this.#stopping) if (!(await this.#step())) await closingSignalOf(this.host).wait(LOOK_MS);
  }

  async #step(): Promise<boolean> {
    try {
      return await this.host.transaction(closeNext);
    } catch (error) {
      this.host.log.warn({ err: loggedError(error) }, 'open deliveries could not be closed; it is tried again');
      return false;
    }
  }
}

/** In processes with the role `consumers`. Source: section 3. */
export const closingWorker: Worker = {
  role: 'consumers',
  async start(host) {
    const runner = new ClosingRunner(host);
    runner.start();
    return runner;
  },
};
