/** The time that decides a service's business rules. Never `new Date()` in a service. */
export interface Clock {
  now(): Date;
}

/** Wall clock, truncated to the milliseconds that are stored. */
export const systemClock: Clock = { now: () => new Date() };

/** A clock that stands at one instant: the manual clock as read at the start of a transaction or timer tick. */
export const fixedClock = (at: Date): Clock => ({ now: () => new Date(at) });

/** One kind of thing that becomes due at a stored time; the manual clock runs them in time order. Source: conventions 8. */
export interface Timer<Ctx> {
  name: string;
  /** The earliest instant at which something is due, or null. Reads only. */
  next(ctx: Ctx): Promise<Date | null>;
  /** Does what is due at `at`; must move `next` on. Runs in a transaction of its own. @param claim what `claimed.claim` answered. */
  run(ctx: Ctx, at: Date, claim?: unknown): Promise<void>;
  /**
   * For work too long for one transaction: claims the instant in the transaction that found it due, then `run` works outside it
   * (opening its own), and `finish` ends the claim. A claim that is not kept up by its process is taken over.
   */
  claimed?: {
    claim(ctx: Ctx, at: Date): Promise<unknown>;
    keep(ctx: Ctx, at: Date): Promise<void>;
    finish(ctx: Ctx, at: Date): Promise<void>;
    /** Whether a claimed instant is being worked on; the manual clock stands still meanwhile. */
    running?(ctx: Ctx): Promise<boolean>;
  };
  /** Seconds between checks on the wall clock; default 15. */
  everySeconds?: number;
}
