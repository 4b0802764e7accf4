import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';

/** How many wrong tries are borne, and for how long nothing is tried after them. Times in ms. Source: identity 4.16. */
export interface TryLimit {
  name: string;
  tries: number;
  windowMs: number;
  /** Wait after the last try; doubled with each further one up to `maxWaitMs`. */
  waitMs: number;
  maxWaitMs: number;
  /** One right try wipes out the wrong ones. */
  endsWithSuccess?: boolean;
}

/** Wrong passwords: from an address, for an account from a network, for an account from anywhere. */
export const PASSWORD_LIMITS = {
  address: { name: 'address', tries: 30, windowMs: MINUTE_MS, waitMs: MINUTE_MS, maxWaitMs: MINUTE_MS },
  network: { name: 'network', tries: 5, windowMs: 15 * MINUTE_MS, waitMs: MINUTE_MS, maxWaitMs: HOUR_MS, endsWithSuccess: true },
  day: { name: 'day', tries: 50, windowMs: DAY_MS, waitMs: DAY_MS, maxWaitMs: DAY_MS },
} as const satisfies Record<string, TryLimit>;

/** Wrong codes of an account, whatever sign-in they are for; five for each sign-in stand in its row. */
export const SECOND_FACTOR_LIMIT: TryLimit = { name: 'second_factor', tries: 10, windowMs: HOUR_MS, waitMs: HOUR_MS, maxWaitMs: HOUR_MS };

/** Wait in ms after this many failures in a window; null: none. */
export function waitAfter({ tries, waitMs, maxWaitMs }: TryLimit, failures: number): number | null {
  return failures < tries ? null : Math.min(maxWaitMs, waitMs * 2 ** Math.min(failures - tries, 20));
}

/** So many in a window that begins with the first. */
export interface CountLimit {
  most: number;
  windowMs: number;
}

/** Source: identity 4.16. */
export const COUNT_LIMITS = {
  mail_per_address: { most: 3, windowMs: 15 * MINUTE_MS },
  mail_per_ip: { most: 10, windowMs: HOUR_MS },
  authorize_per_ip: { most: 60, windowMs: MINUTE_MS },
  phone_code_per_account: { most: 5, windowMs: HOUR_MS },
  email_change_per_account: { most: 3, windowMs: HOUR_MS },
  staff_invite_per_inviter: { most: 50, windowMs: HOUR_MS },
  avatar_by_url: { most: 10, windowMs: HOUR_MS },
} as const satisfies Record<string, CountLimit>;
