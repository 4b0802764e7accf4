import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { DeclineCategory } from '../entities/enums-payment.js';

/** When an invoice is tried again. Days count from the first failure. */
export interface DunningPolicy {
  retryDays: readonly number[];
  finalDay: number;
  /** What becomes of a subscription whose invoice is given up. */
  finalAction: 'cancel' | 'pause';
}

/** Source: payments 3.5. */
export const DUNNING: DunningPolicy = { retryDays: [1, 3, 7, 14], finalDay: 21, finalAction: 'cancel' };

/** A brand may try this often, the first time not counted. Source: payments 3.5. */
const MAX_RETRIES = 8;

const isDay = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 365;

/** A brand's schedule as platform's configuration holds it; null where it is malformed. */
export function dunningPolicy(value: unknown): DunningPolicy | null {
  const { retry_days: days, final_day: finalDay, final_action: action = 'cancel' } = (value ?? {}) as Record<string, unknown>;
  if (!Array.isArray(days) || days.length > MAX_RETRIES || !days.every(isDay) || !isDay(finalDay)) return null;
  if ((action !== 'cancel' && action !== 'pause') || [...days, finalDay].some((day, at) => at > 0 && day <= days[at - 1]!)) return null;
  return { retryDays: days, finalDay, finalAction: action };
}

/** Card networks fine more attempts than this in any 30 days; those by hand count. Source: payments 3.5. */
export const CEILING = { attempts: 15, days: 30 } as const;

const isRepeated = (category: DeclineCategory): boolean =>
  category === DeclineCategory.SOFT || category === DeclineCategory.PROCESSOR_ERROR;

/** The next attempt after a failure at `now`; null: only the customer, another method or nobody tries again. */
export function nextAttempt(category: DeclineCategory, firstFailedAt: Date, now: Date, policy: DunningPolicy = DUNNING): Date | null {
  if (!isRepeated(category)) return null;
  const times = policy.retryDays.map(day => after(firstFailedAt, day * DAY_MS));
  return times.find(at => at > now) ?? null;
}

/** When an unpaid invoice is given up. */
export const finalAt = (firstFailedAt: Date, policy: DunningPolicy = DUNNING): Date => after(firstFailedAt, policy.finalDay * DAY_MS);

/** From when on one more attempt keeps the ceiling; `now` where it does already. @param attempts instants of those made. */
export function allowedFrom(attempts: readonly Date[], now: Date): Date {
  const within = attempts.filter(at => after(at, CEILING.days * DAY_MS) > now).sort((a, b) => a.getTime() - b.getTime());
  const tooMany = within.at(-CEILING.attempts);
  return tooMany ? after(tooMany, CEILING.days * DAY_MS) : now;
}

/** What is known of an invoice that is to be tried. */
export interface Collection {
  isPaid: boolean;
  isInProgress: boolean;
  /** The method that would be charged has been refused for good. */
  isHardDeclined: boolean;
  attempts: readonly Date[];
  nextAttemptAt: Date | null;
}

export type SkipReason = 'hard_decline' | 'ceiling' | 'not_due' | 'in_progress' | 'paid';

/** Why an invoice is not tried now; null: it is. `ignoreSchedule` never passes the ceiling or a hard decline. Source: payments 4.4. */
export function skipReason(invoice: Collection, now: Date, ignoreSchedule: boolean): SkipReason | null {
  if (invoice.isPaid) return 'paid';
  if (invoice.isInProgress) return 'in_progress';
  if (invoice.isHardDeclined) return 'hard_decline';
  if (allowedFrom(invoice.attempts, now) > now) return 'ceiling';
  const isDue = invoice.nextAttemptAt !== null && invoice.nextAttemptAt <= now;
  return isDue || ignoreSchedule ? null : 'not_due';
}
