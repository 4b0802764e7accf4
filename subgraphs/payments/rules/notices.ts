import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { BillingInterval } from '../entities/enums-billing.js';
import type { Recurrence } from './periods.js';

/** Days before a charge at which the customer is told. Source: payments 5.1, payment.scheduled. */
const TRIAL_DAYS = 3;
const RENEWAL_DAYS = 7;
const ANNUAL_DAYS = 30;

/** Periods of a year or more. */
const isAnnual = ({ interval, intervalCount }: Recurrence): boolean =>
  interval === BillingInterval.YEAR || (interval === BillingInterval.MONTH && intervalCount >= 12);

/** When the charge at `chargeAt` is announced: the end of a trial 3 days before, a renewal 7, an annual one 30. A shorter period: at its beginning. */
export function noticeAt(chargeAt: Date, isTrial: boolean, recurrence: Recurrence, begun: Date): Date {
  const days = isTrial ? TRIAL_DAYS : isAnnual(recurrence) ? ANNUAL_DAYS : RENEWAL_DAYS;
  const at = after(chargeAt, -days * DAY_MS);
  return at > begun ? at : begun;
}
