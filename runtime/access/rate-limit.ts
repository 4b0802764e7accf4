import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { fail } from '../request/errors.js';

/** Counters kept before lapsed ones are swept out. */
const SWEEP_AT = 10_000;

interface Window {
  count: number;
  endsAt: number;
}

/** What counts as one address: of IPv6 the /64, because a host holds all of it. */
export function addressKey(ip: string): string {
  if (isIPv4(ip) || !ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip); // an IPv4 address in IPv6 clothes is an IPv4 address
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString();
}

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

/** A limit that each host of a process has for itself. */
export function rateLimitPerHost(limit: number, windowMs: number): (host: object) => RateLimit {
  const known = new WeakMap<object, RateLimit>();
  return host => {
    const found = known.get(host) ?? new RateLimit(limit, windowMs);
    known.set(host, found);
    return found;
  };
}
