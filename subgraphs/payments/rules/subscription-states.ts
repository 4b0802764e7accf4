import type { TransitionTable } from '../../../runtime/request/states.js';
import { BillingSubscriptionStatus as Status } from '../entities/enums-billing.js';

/**
 * `settle`: its invoice is paid (of a trial: the first after it); `fall_due`: a charge of it failed; `be_forgiven`: staff took the last overdue
 * invoice away; `pause_void`: a pause that voids what is overdue; `give_up`, `give_up_and_pause`: dunning is exhausted;
 * `end_later`: cancel at the end of the period.
 */
export type SubscriptionTrigger =
  | 'settle'
  | 'expire'
  | 'fall_due'
  | 'be_forgiven'
  | 'pause'
  | 'pause_void'
  | 'resume'
  | 'resume_unpaid'
  | 'give_up'
  | 'give_up_and_pause'
  | 'change'
  | 'end_later'
  | 'cancel';

/** Source: payments 3.3. */
export const SUBSCRIPTION_STATES: TransitionTable<Status, SubscriptionTrigger> = {
  incomplete: { settle: Status.ACTIVE, expire: Status.INCOMPLETE_EXPIRED, cancel: Status.INCOMPLETE_EXPIRED },
  incomplete_expired: {},
  trialing: {
    settle: Status.ACTIVE,
    fall_due: Status.PAST_DUE,
    pause: Status.PAUSED,
    change: Status.TRIALING,
    end_later: Status.TRIALING,
    cancel: Status.CANCELLED,
  },
  active: {
    settle: Status.ACTIVE,
    fall_due: Status.PAST_DUE,
    pause: Status.PAUSED,
    change: Status.ACTIVE,
    end_later: Status.ACTIVE,
    cancel: Status.CANCELLED,
  },
  past_due: {
    settle: Status.ACTIVE,
    fall_due: Status.PAST_DUE,
    be_forgiven: Status.ACTIVE,
    pause_void: Status.PAUSED,
    give_up: Status.CANCELLED,
    give_up_and_pause: Status.PAUSED,
    end_later: Status.PAST_DUE,
    cancel: Status.CANCELLED,
  },
  paused: { resume: Status.ACTIVE, resume_unpaid: Status.PAST_DUE, cancel: Status.CANCELLED },
  cancelled: {},
};

const OVER: readonly Status[] = [Status.INCOMPLETE_EXPIRED, Status.CANCELLED];
const BILLED: readonly Status[] = [Status.TRIALING, Status.ACTIVE, Status.PAST_DUE];

export const isOver = (status: Status): boolean => OVER.includes(status);
/** Statuses in which periods end and begin. */
export const isBilled = (status: Status): boolean => BILLED.includes(status);
