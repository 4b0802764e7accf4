import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { answersRequests, type Role } from '../../../runtime/config.js';

/** Part of the process's time that may be busy while deliveries go out, where the process answers requests as well. */
const SHARE = 0.3;
/** Longest pause, ms: a process that others keep busy still delivers, a batch at a time. */
const LONGEST_MS = 50;

/** Of an event loop, ms. */
export type Times = Pick<EventLoopUtilization, 'active' | 'idle'>;

/** What works beside no requests takes all the time that it needs: the machine's other processes go before it, see `gateway/composition/background.ts`. */
export const paceOf = (roles: ReadonlySet<Role>): Pace => new Pace(answersRequests(roles) ? SHARE : 1);

/** Decides how long to wait between two batches, so that a fan-out to thousands takes no more than its share. */
export class Pace {
  #last: Times;
  /** Idle time still owed for what was busy, ms. */
  #owed = 0;

  /**
   * @param share part of the time that may be busy, at most 1.
   * @param times how long the process was busy and idle until now, ms.
   */
  constructor(
    private readonly share: number,
    private readonly times: () => Times = () => performance.eventLoopUtilization(),
  ) {
    this.#last = times();
  }

  /** The pause to make now, ms. */
  pauseMs(): number {
    const now = this.times();
    const [active, idle] = [now.active - this.#last.active, now.idle - this.#last.idle];
    this.#last = now;
    this.#owed = Math.min(LONGEST_MS, Math.max(0, this.#owed + active / this.share - active - idle));
    return this.#owed;
  }
}
