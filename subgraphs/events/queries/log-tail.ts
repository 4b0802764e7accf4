import type { ServiceHost } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';

/** Between two looks at the end of the log while somebody waits, ms. */
const LOOK_MS = 100;

interface Waiter {
  known: number;
  wake(): void;
}

/** Wakes who waits for the log to grow. One look for all who wait in this process, and none while nobody does. */
class LogTail {
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(readonly host: ServiceHost) {}

  /** Resolves when more than `known` events were relayed, or after `ms`; false when the process ends. */
  async grownBeyond(known: number, ms: number): Promise<boolean> {
    if (this.#stopped) return false;
    await new Promise<void>(resolve => {
      const waiter: Waiter = { known, wake: resolve };
      const timer = setTimeout(() => this.#wake(waiter), ms);
      waiter.wake = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiters.add(waiter);
      this.#schedule();
    });
    return !this.#stopped;
  }

  #schedule(): void {
    if (this.#stopped || this.#waiters.size === 0) return;
    this.#timer ??= setTimeout(() => void this.#look(), LOOK_MS);
  }

  async #look(): Promise<void> {
    try {
      const [row] = await this.host.read(ctx =>
        ctx.sql<{ total: number }>(`select sum(position)::float8 as total from events.lease where name like 'relay:_'`),
      );
      for (const waiter of this.#waiters) if (row!.total > waiter.known) this.#wake(waiter);
    } catch (error) {
      this.host.log.debug({ err: loggedError(error) }, 'the end of the log could not be read');
    }
    this.#timer = undefined;
    this.#schedule();
  }

  #wake(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    waiter.wake();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#waiters.forEach(waiter => this.#wake(waiter));
  }
}

const tails = new WeakMap<ServiceHost, LogTail>();

/** The one tail of a running service. */
export function tailOf(host: ServiceHost): LogTail {
  const existing = tails.get(host) ?? new LogTail(host);
  tails.set(host, existing);
  return existing;
}
