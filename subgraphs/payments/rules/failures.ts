/** An attempt, as the monitor counts it. */
export interface CountedAttempts {
  readonly attempts: number;
  readonly failures: number;
}

export const BPS = 10_000;

/** Failures per 10,000 attempts, half up; 0 without an attempt. */
export const rateBps = ({ attempts, failures }: CountedAttempts): number =>
  attempts === 0 ? 0 : Math.floor((failures * BPS * 2 + attempts) / (attempts * 2));

/** Whether so many fail that somebody should look. Source: payments 4.4. */
export const isBreached = (counted: CountedAttempts, minAttempts: number, thresholdBps: number): boolean =>
  counted.attempts >= minAttempts && rateBps(counted) >= thresholdBps;
