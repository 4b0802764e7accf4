import { keepLease } from '../../../events/leases.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Worker } from '../../../runtime/service.js';
import { handleEvent, keepEvents } from '../commands/processor-event.js';
import type { ProcessorNotice } from '../ports/processor.js';
import { EVENT_LEASE_MS } from '../rules/processor-event.js';

/** Calls of the processor that one process handles at once; each needs a connection for a moment. */
const CONCURRENCY = 2;
/** Calls that wait in memory at most; the others are found by the timer when their lease is over. */
const MOST_WAITING = 2_000;

/** A call of the processor, by the id under which it is kept. */
interface Taken {
  id: string;
  notice: ProcessorNotice;
}

/** Handles what this process has taken, in the order in which it came; the leases of what waits are kept up, else others would handle it as well. */
class EventQueue {
  readonly #waiting: Taken[] = [];
  readonly #running = new Set<Promise<unknown>>();
  #isStopped = false;
  #stopKeeping: (() => Promise<void>) | undefined;

  constructor(private readonly host: ServiceHost) {}

  add(taken: Taken): void {
    if (this.#isStopped || this.#waiting.length >= MOST_WAITING) return;
    this.#waiting.push(taken);
    this.#stopKeeping ??= keepLease(() => this.#keep(), EVENT_LEASE_MS);
    this.#next();
  }

  async #keep(): Promise<void> {
    const ids = this.#waiting.map(({ id }) => id);
    if (ids.length > 0) await keepEvents(this.host, ids);
  }

  #next(): void {
    while (!this.#isStopped && this.#running.size < CONCURRENCY && this.#waiting.length > 0) {
      const { id, notice } = this.#waiting.shift()!;
      const work: Promise<unknown> = handleEvent(this.host, id, { notice }).finally(() => {
        this.#running.delete(work);
        this.#next();
      });
      this.#running.add(work);
    }
  }

  /** Ends what has begun; what waits is taken over by another process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#running, this.#stopKeeping?.()]);
  }
}

const queues = new WeakMap<ServiceHost, EventQueue>();

function queueOf(host: ServiceHost): EventQueue {
  let queue = queues.get(host);
  if (!queue) queues.set(host, (queue = new EventQueue(host)));
  return queue;
}

/** Handles a call that has just been kept, soon. */
export const handleSoon = (host: ServiceHost, taken: Taken): void => queueOf(host).add(taken);

/** Lets the process end what it has begun. */
export const eventWorker: Worker = {
  role: 'subgraphs',
  start: async host => ({ stop: () => queueOf(host).stop() }),
};
