import { createHash } from 'node:crypto';

/** Consecutive failures, over at least so many users, within so long, that open the circuit. Source: section 3, circuit. */
export const OPENING = { failures: 10, users: 3, withinMs: 60_000 } as const;
/** Distance of the probes of an open circuit, ms. */
export const PROBE_MS = 30_000;
/** `Retry-After` holds first attempts back for at most so long, ms. Source: rule 4. */
const MAX_RETRY_AFTER_MS = 60_000;

/** `Date.parse` reads all kinds of things as dates; a day name and GMT stand in all that HTTP knows. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .* GMT$/;

/** A failed attempt of a subscription. */
export interface Failure {
  /** ms. */
  at: number;
  /** {@link userTag}. */
  user: string;
}

/** Tells users of a few failures apart and names nobody: of 65,536 values, so what is kept of an erased person identifies nobody. */
export const userTag = (userId: string): string => createHash('sha256').update(userId).digest('hex').slice(0, 4);

/** The failures since the last success that may still count: the newest ten. */
export const remember = (failures: readonly Failure[], failure: Failure): Failure[] => [...failures, failure].slice(-OPENING.failures);

/** Whether these failures, the newest last, open the circuit. */
export function opens(failures: readonly Failure[]): boolean {
  if (failures.length < OPENING.failures) return false;
  const users = new Set(failures.map(failure => failure.user));
  return users.size >= OPENING.users && failures.at(-1)!.at - failures[0]!.at <= OPENING.withinMs;
}

/** Until when a receiver asks us to hold back, ms; null when it does not, or in the past. Seconds or an HTTP date. */
export function retryAfter(header: string | undefined, at: number): number | null {
  if (header === undefined) return null;
  const until = /^\d{1,9}$/.test(header) ? at + Number(header) * 1000 : HTTP_DATE.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(until) || until <= at ? null : Math.min(until, at + MAX_RETRY_AFTER_MS);
}

/**
 * Requests per second of one subscription: a bucket that holds a tenth of a second's worth, at least one, so that no second sees
 * more than a tenth above the limit. A scheduled retry runs at its time; it takes its token all the same.
 */
export class RateLimit {
  #tokens: number;
  #at: number;

  /** @param at monotonic time, ms. */
  constructor(
    readonly perSecond: number,
    at: number,
  ) {
    this.#tokens = this.#capacity;
    this.#at = at;
  }

  get #capacity(): number {
    return Math.max(1, this.perSecond / 10);
  }

  #refill(at: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + ((at - this.#at) * this.perSecond) / 1000);
    this.#at = at;
  }

  /** Whether a first attempt may begin now. */
  allows(at: number): boolean {
    this.#refill(at);
    return this.#tokens >= 1;
  }

  /** An attempt begins; retries may leave a debt, of at most a second's worth. */
  take(at: number): void {
    this.#refill(at);
    this.#tokens = Math.max(-this.perSecond, this.#tokens - 1);
  }
}
