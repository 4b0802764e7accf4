import { addressKey, rateLimitPerHost } from '../../../runtime/access/rate-limit.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';

/** Clicks of one address in a minute that count. Source: affiliates 4. */
const PER_MINUTE = 30;

const limits = rateLimitPerHost(PER_MINUTE, MINUTE_MS);

/** @throws Problem rate_limited for too many from one address. */
export const limitClicks = (host: ServiceHost, ip: string | null): void => limits(host).take(addressKey(ip ?? ''));

/** Whether one more counts. */
export function isWithinLimit(host: ServiceHost, ip: string | null): boolean {
  try {
    limitClicks(host, ip);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}
