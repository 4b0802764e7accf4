import type { TransitionTable } from '../../../runtime/request/states.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { RefundStatus as Status } from '../entities/enums-payment.js';
import { roundHalfEven } from './rounding.js';

export type RefundTrigger = 'approve' | 'reject' | 'succeed' | 'require_action' | 'fail' | 'bounce';

/** Refund states. SUCCEEDED may still bounce, within 30 days. Source: payments 3.2. */
export const REFUND_STATES: TransitionTable<Status, RefundTrigger> = {
  [Status.REQUIRES_APPROVAL]: { approve: Status.PENDING, reject: Status.CANCELLED },
  [Status.PENDING]: { succeed: Status.SUCCEEDED, require_action: Status.REQUIRES_ACTION, fail: Status.FAILED },
  [Status.REQUIRES_ACTION]: { succeed: Status.SUCCEEDED, fail: Status.FAILED },
  [Status.SUCCEEDED]: { bounce: Status.FAILED },
  [Status.FAILED]: {},
  [Status.CANCELLED]: {},
};

/** A bank may send a settled refund back so long. */
export const BOUNCE_MS = 30 * DAY_MS;
/** A refund that nobody approves is cancelled then. */
export const APPROVAL_MS = 7 * DAY_MS;
/** Refunds of staff so long count together. */
export const STAFF_WINDOW_MS = 30 * DAY_MS;
/** Minor units of any currency, where a brand has set none. */
export const DEFAULT_THRESHOLD = 50_000;

/** What staff may give back of one payment without a second person; `{"USD": 50000}` of platform's configuration. */
export function thresholdOf(setting: unknown, currency: string): number {
  const own = (setting as Readonly<Record<string, unknown>> | null | undefined)?.[currency];
  return Number.isSafeInteger(own) && (own as number) >= 0 ? (own as number) : DEFAULT_THRESHOLD;
}

/** What of an obligation may still go back, minor units. */
export interface Left {
  card: number;
  cash: number;
  credit: number;
}

export interface Parts {
  card: number;
  cash: number;
  credit: number;
}

/** A refund of an obligation: from the card first, then cash, then credit. Source: payments 4.3. */
export function splitOfObligation(amount: number, left: Left): Parts {
  const card = Math.min(amount, left.card);
  const cash = Math.min(amount - card, left.cash);
  return { card, cash, credit: amount - card - cash };
}

/** What settled an obligation besides, minor units. */
export interface Settled {
  /** Captured of the card. */
  card: number;
  cash: number;
  credit: number;
}

/**
 * A refund of a card's payment takes cash and credit with it in proportion, rounded half to even, never more than is left; the last one takes
 * what is left. Source: payments 4.3.
 */
export function splitOfPayment(amount: number, settled: Settled, left: Left): Parts {
  const isLast = amount === left.card;
  const share = (part: number, rest: number): number =>
    isLast ? rest : Math.min(rest, roundHalfEven(BigInt(part) * BigInt(amount), BigInt(settled.card)));
  return { card: amount, cash: share(settled.cash, left.cash), credit: share(settled.credit, left.credit) };
}

/** Share of the tax in what goes back; the last refund takes the rest. */
export function taxShare(tax: number, given: number, back: number, returned: { amount: number; tax: number }): number {
  if (given === 0) return 0;
  if (returned.amount + back >= given) return tax - returned.tax;
  return roundHalfEven(BigInt(tax) * BigInt(back), BigInt(given));
}
