import type { TransitionTable } from '../../../runtime/request/states.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../runtime/time/durations.js';
import { PayoutStatus as Status } from '../entities/enums-operations.js';

export type PayoutTrigger = 'approve' | 'reject' | 'cancel' | 'send' | 'pay' | 'fail';

/** Payout states. One that is PAID may come back from the bank, within {@link RETURN_MS}. Source: payments 3.7. */
export const PAYOUT_STATES = {
  [Status.REQUIRES_APPROVAL]: { approve: Status.PENDING, reject: Status.CANCELLED, cancel: Status.CANCELLED },
  [Status.PENDING]: { send: Status.IN_TRANSIT, pay: Status.PAID, fail: Status.FAILED, cancel: Status.CANCELLED },
  [Status.IN_TRANSIT]: { pay: Status.PAID, fail: Status.FAILED },
  [Status.PAID]: { fail: Status.FAILED },
  [Status.FAILED]: {},
  [Status.CANCELLED]: {},
} as const satisfies TransitionTable<Status, PayoutTrigger>;

/** How long a bank may return what had arrived. */
export const RETURN_MS = 30 * DAY_MS;
/** How long a second person has to approve. */
export const APPROVE_WITHIN_MS = 7 * DAY_MS;
/** Longest that the ledger keeps a pending debit; the payout is settled before. */
export const HELD_MS = 30 * DAY_MS;

/** What the processor reports, as a trigger. */
const REPORTED: Readonly<Partial<Record<Status, PayoutTrigger>>> = {
  [Status.IN_TRANSIT]: 'send',
  [Status.PAID]: 'pay',
  [Status.FAILED]: 'fail',
  [Status.CANCELLED]: 'cancel',
};

/** The step from a state to the one that the processor reports; null where it is no news, lies behind, or comes too late. */
export function stepTo(from: Status, reported: Status, paidAt: Date | null, now: Date): PayoutTrigger | null {
  const trigger = REPORTED[reported];
  if (trigger === undefined || !(trigger in PAYOUT_STATES[from])) return null;
  if (from === Status.PAID && paidAt !== null && now.getTime() - paidAt.getTime() > RETURN_MS) return null;
  return trigger;
}

const LOOKS_MS = [10 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS] as const;

/** Until the processor is asked again, after so many looks. */
export const nextLookMs = (looks: number): number => LOOKS_MS[Math.min(looks, LOOKS_MS.length - 1)]!;

/** What the ledger is to do with the pending debit of a payout in this state; null for nothing yet. Source: payments 3.7. */
export function ledgerStep(status: Status, isPosted: boolean): 'post' | 'void' | 'reverse' | null {
  if (status === Status.PAID) return isPosted ? null : 'post';
  if (status === Status.FAILED || status === Status.CANCELLED) return isPosted ? 'reverse' : 'void';
  return null;
}
