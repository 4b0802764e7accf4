import { fail } from './errors.js';

/** Counters kept before lapsed ones are swept out. */
const SWEEP_AT = 10_000;

interface Window {
  count: number;
  endsAt: number;
}

/** An IPv6 host holds its whole /64, so it counts as one address. */
export const addressKey = (ip: string): string => (ip.includes(':') && !ip.includes('.') ? ip.split(':').slice(0, 4).join(':') : ip);

/**
 * So many calls per key in each window, counted in this process: a guard for public reads that writes nothing. It runs on the
 * monotonic clock, never on a service's.
 */
export class RateLimit {
  readonly #windows = new Map<string, Window>();

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
    private readonly clock: () => number = () => performance.now(),
  ) {}

  /** Counts a call. @throws Problem rate_limited with the seconds until the window ends. */
  take(key: string): void {
    const now = this.clock();
    const window = this.#windowOf(key, now);
    if (++window.count > this.limit) fail('rate_limited', 'Too many requests', { retryAfter: Math.ceil((window.endsAt - now) / 1000) });
  }

  #windowOf(key: string, now: number): Window {
    const known = this.#windows.get(key);
    if (known && known.endsAt > now) return known;
    if (this.#windows.size >= SWEEP_AT) this.#sweep(now);
    const window = { count: 0, endsAt: now + this.windowMs };
    this.#windows.set(key, window);
    return window;
  }

  #sweep(now: number): void {
    for (const [key, { endsAt }] of this.#windows) if (endsAt <= now) this.#windows.delete(key);
  }
}
