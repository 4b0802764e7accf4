import type { Config } from '../../../runtime/config.js';
import { RateLimit } from '../../../runtime/access/rate-limit.js';
import type { Context } from '../../../runtime/request/context.js';
import { HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';

interface CallLimit {
  most: number;
  windowMs: number;
  /** Another number of calls, or `off`. */
  configured?: (config: Config) => string | undefined;
}

/** Calls per window, in each process. Source: commerce 7.26, 4.1, 4.3. */
const LIMITS = {
  carts: { most: 50, windowMs: HOUR_MS, configured: config => config.setting('COMMERCE_CARTS_PER_HOUR') },
  checkouts: { most: 20, windowMs: HOUR_MS, configured: config => config.setting('COMMERCE_CHECKOUTS_PER_HOUR') },
  unfurl: { most: 30, windowMs: MINUTE_MS },
  promo: { most: 10, windowMs: MINUTE_MS },
} as const satisfies Record<string, CallLimit>;
type Limit = keyof typeof LIMITS;

const limits = new WeakMap<object, Map<Limit, RateLimit | null>>();

/** @throws Error for a limit that is no number, or switched off outside tests. */
function limitOf({ host }: Context, name: Limit): RateLimit | null {
  const { most, windowMs, configured }: CallLimit = LIMITS[name];
  const text = configured?.(host.config);
  if (text === 'off') {
    if (!host.config.manualClock) throw new Error(`the limit of ${name} is off with CLOCK=manual only`);
    return null;
  }
  const allowed = text === undefined ? most : Number(text);
  if (!Number.isInteger(allowed) || allowed < 1) throw new Error(`the limit of ${name} must be a whole number, or off`);
  return new RateLimit(allowed, windowMs);
}

/** Counts a call of somebody. @throws Problem rate_limited. */
export function takeLimit(ctx: Context, name: Limit, key: string): void {
  const known = limits.get(ctx.host) ?? new Map<Limit, RateLimit | null>();
  limits.set(ctx.host, known);
  if (!known.has(name)) known.set(name, limitOf(ctx, name));
  known.get(name)?.take(key);
}

/** Who calls, for limits: the user, else the client. */
export const callerKey = ({ caller }: Context): string => caller.userId ?? caller.clientId;
