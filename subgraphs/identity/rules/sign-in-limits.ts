/** How many wrong passwords are borne, and for how long nothing is tried after them. Times in ms. Source: identity 4.16. */
export interface SignInLimit {
  name: 'network' | 'day' | 'address';
  tries: number;
  windowMs: number;
  /** Wait after the last try; doubled with each further one up to `maxWaitMs`. */
  waitMs: number;
  maxWaitMs: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const SIGN_IN_LIMITS: readonly SignInLimit[] = [
  { name: 'address', tries: 30, windowMs: MINUTE, waitMs: MINUTE, maxWaitMs: MINUTE },
  { name: 'network', tries: 5, windowMs: 15 * MINUTE, waitMs: MINUTE, maxWaitMs: HOUR },
  { name: 'day', tries: 50, windowMs: 24 * HOUR, waitMs: 24 * HOUR, maxWaitMs: 24 * HOUR },
];

/** Wait in ms after this many failures in a window; null: none. */
export function waitAfter({ tries, waitMs, maxWaitMs }: SignInLimit, failures: number): number | null {
  return failures < tries ? null : Math.min(maxWaitMs, waitMs * 2 ** Math.min(failures - tries, 20));
}
