import type { Violation } from '../../../runtime/request/errors.js';
import { DAY_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { DoseLogStatus as Status } from '../entities/dose.js';

/** A dose can be logged so long after its time and before it; then it is missed. Source: clinical 7.3.6. */
export const LOGGED_WITHIN_MS = 7 * DAY_MS;
const EARLY_MS = DAY_MS;
/** Clocks differ. */
const TOLERANCE_MS = 5 * MINUTE_MS;

export interface LogDecision {
  /** Why it cannot be logged, null when it can. */
  refusal: string | null;
  /** It was logged like this before. */
  repeated: boolean;
  errors: Violation[];
}

/** Whether a dose may be logged: once, from a day before to 7 days after its time. */
export function logDecision(
  row: { status: Status; scheduledFor: Date },
  log: { status: 'taken' | 'skipped'; takenAt: Date; quantity: { value: number } | null },
  now: Date,
): LogDecision {
  if (row.status === (log.status as string)) return { refusal: null, repeated: true, errors: [] };
  const age = now.getTime() - row.scheduledFor.getTime();
  const errors: Violation[] = [];
  const at = log.takenAt.getTime();
  if (at > now.getTime() + TOLERANCE_MS) errors.push({ pointer: '/input/takenAt', message: 'lies in the future' });
  if (at < now.getTime() - LOGGED_WITHIN_MS) errors.push({ pointer: '/input/takenAt', message: 'lies more than 7 days back' });
  if (log.quantity && !(log.quantity.value > 0)) errors.push({ pointer: '/input/quantity/value', message: 'must be more than 0' });
  return { refusal: refusalOf(row.status, age), repeated: false, errors };
}

function refusalOf(status: Status, age: number): string | null {
  if (status !== Status.SCHEDULED) return `a ${status} dose cannot be logged otherwise`;
  if (age > LOGGED_WITHIN_MS) return 'a dose cannot be logged more than 7 days afterwards';
  return age < -EARLY_MS ? 'a dose cannot be logged more than a day before its time' : null;
}
