import { after, SECOND_MS } from '../../../runtime/time/durations.js';
import { anchoredAt, secondsBetween, type Anchor, type Period } from './periods.js';

/** Paid seconds that a pause at `at` keeps: what is not used of the period. Source: payments 7.10. */
export const bankedAt = (at: Date, periodEnd: Date): number => secondsBetween(at, periodEnd);

export interface Resumed {
  period: Period;
  anchor: Anchor & { day: number };
}

/** A resumed subscription runs the banked seconds; its boundaries count from their end. */
export function resumedAt(at: Date, bankedSeconds: number): Resumed {
  const end = after(at, bankedSeconds * SECOND_MS);
  return { period: { start: at, end }, anchor: anchoredAt(end) };
}
