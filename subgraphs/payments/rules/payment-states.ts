import type { TransitionTable } from '../../../runtime/request/states.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../runtime/time/durations.js';
import { PaymentAttemptStatus as Attempt, PaymentStatus as Status } from '../entities/enums-payment.js';

export type PaymentTrigger =
  'confirm' | 'succeed' | 'authorize' | 'require_action' | 'decline' | 'authenticate' | 'capture' | 'give_up' | 'cancel';

/** Payment states; SUCCEEDED, FAILED and CANCELLED are final, and of a SUCCEEDED one only amounts move. Source: payments 3.1. */
export const PAYMENT_STATES: TransitionTable<Status, PaymentTrigger> = {
  [Status.PROCESSING]: {
    succeed: Status.SUCCEEDED,
    authorize: Status.AUTHORIZED,
    require_action: Status.REQUIRES_ACTION,
    decline: Status.REQUIRES_PAYMENT_METHOD,
  },
  [Status.REQUIRES_ACTION]: {
    authenticate: Status.PROCESSING,
    confirm: Status.PROCESSING,
    decline: Status.REQUIRES_PAYMENT_METHOD,
    cancel: Status.CANCELLED,
  },
  [Status.REQUIRES_PAYMENT_METHOD]: { confirm: Status.PROCESSING, give_up: Status.FAILED, cancel: Status.CANCELLED },
  [Status.AUTHORIZED]: { capture: Status.SUCCEEDED, cancel: Status.CANCELLED },
  [Status.SUCCEEDED]: {},
  [Status.FAILED]: {},
  [Status.CANCELLED]: {},
};

export const ENDED: readonly Status[] = [Status.SUCCEEDED, Status.FAILED, Status.CANCELLED];
export const isEnded = (status: Status): boolean => ENDED.includes(status);

/** Money of the payment may still arrive, so what is reserved for it is held on. Source: payments 5.3. */
const IN_FLIGHT: readonly Status[] = [Status.PROCESSING, Status.REQUIRES_ACTION, Status.AUTHORIZED];
export const isInFlight = (status: Status): boolean => IN_FLIGHT.includes(status);

/** Its outcome is not known, so that no other attempt may begin. Source: payments 7.2. */
export const isUndecided = (status: Attempt): boolean => status === Attempt.PENDING || status === Attempt.UNKNOWN;

/** An authorization that is not captured by then is voided. */
export const CAPTURE_WITHIN_MS = 7 * DAY_MS;
export const ACTION_WITHIN_MS = HOUR_MS;
/** A charge that the processor works on is told of by its webhook; one that is not is asked about after a day. */
export const SETTLES_WITHIN_MS = DAY_MS;
/** An attempt whose process went away is looked after by another one then. Source: payments 5.3. */
export const ATTEMPT_LEASE_MS = 30 * SECOND_MS;

/** Waits before each look for an attempt without an answer; the last one again and again. Source: payments 3.1. */
const LOOKS_MS = [10 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, HOUR_MS] as const;
const LOOKED_FOR_MS = 7 * DAY_MS;

/** When to ask the processor again, `looks` times after which it had no answer; null: given up, seven days after the start. */
export function nextLook(startedAt: Date, looks: number, now: Date): Date | null {
  const at = new Date(now.getTime() + LOOKS_MS[Math.min(looks, LOOKS_MS.length - 1)]!);
  return at.getTime() - startedAt.getTime() > LOOKED_FOR_MS ? null : at;
}
