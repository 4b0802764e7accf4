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

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Wrong passwords: from an address, for an account from a network, for an account from anywhere. */
export const PASSWORD_LIMITS = {
  address: { name: 'address', tries: 30, windowMs: MINUTE, waitMs: MINUTE, maxWaitMs: MINUTE },
  network: { name: 'network', tries: 5, windowMs: 15 * MINUTE, waitMs: MINUTE, maxWaitMs: HOUR, endsWithSuccess: true },
  day: { name: 'day', tries: 50, windowMs: 24 * HOUR, waitMs: 24 * HOUR, maxWaitMs: 24 * HOUR },
} as const satisfies Record<string, TryLimit>;

/** Wrong codes of an account, whatever sign-in they are for; five for each sign-in stand in its row. */
export const SECOND_FACTOR_LIMIT: TryLimit = { name: 'second_factor', tries: 10, windowMs: HOUR, waitMs: HOUR, maxWaitMs: HOUR };

/** Wait in ms after this many failures in a window; null: none. */
export function waitAfter({ tries, waitMs, maxWaitMs }: TryLimit, failures: number): number | null {
  return failures < tries ? null : Math.min(maxWaitMs, waitMs * 2 ** Math.min(failures - tries, 20));
}
