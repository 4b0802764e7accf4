import { MINUTE_MS, DAY_MS, HOUR_MS, SECOND_MS } from '../../../runtime/time/durations.js';

/** Lives of sessions, holds and steps. Source: payments 3.7, 5.3, 7.12. */
export const SESSION_MS = DAY_MS;
/** Of an order whose customer is absent: commerce cancels it. */
export const ABSENT_ORDER_MS = 7 * DAY_MS;
export const HOLD_MS = 30 * MINUTE_MS;
/** Cash is held on so long before its hold ends. */
export const HOLD_MARGIN_MS = 5 * MINUTE_MS;
/** A step whose process went away is gone on with by another one. */
export const STEP_LEASE_MS = 30 * SECOND_MS;
/** Waits before a step is tried again that a neighbour could not answer. */
const RETRIES_MS = [30 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS] as const;

export const stepRetryMs = (tries: number): number => RETRIES_MS[Math.min(tries, RETRIES_MS.length - 1)]!;

/** `unit × quantity`, in BigInt. @throws RangeError past 2^53. */
export function lineAmount({ unitAmount, quantity }: { unitAmount: number; quantity: number }): number {
  const amount = BigInt(unitAmount) * BigInt(quantity);
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('an amount is past 2^53');
  return Number(amount);
}

export interface Reductions {
  cash: number;
  credit: number;
}

/** What the card pays: what is left after promo and tax, cash and credit, in this order. Source: payments 4.3. */
export const cardPart = (due: number, { cash, credit }: Reductions): number => due - cash - credit;

export interface Totals {
  subtotal: number;
  discount: number;
  tax: number;
  shipping: number;
}

/** What is owed before cash and credit. */
export const dueOf = ({ subtotal, discount, tax, shipping }: Totals): number => subtotal - discount + tax + shipping;

/** Fewer was captured than authorized: what is owed shrinks with it, first what is bought, then shipping, then tax. */
export function shrunk(totals: Totals, by: number): Totals {
  const bought = Math.min(by, totals.subtotal - totals.discount);
  const shipping = Math.min(by - bought, totals.shipping);
  const tax = by - bought - shipping;
  return { ...totals, subtotal: totals.subtotal - bought, shipping: totals.shipping - shipping, tax: totals.tax - tax };
}

/** Text that a card's statement shows: capital letters, digits and spaces, 5 to 22; never a treatment. Source: payments 2. */
export function statementDescriptor(brandName: string): string {
  const plain = brandName
    .normalize('NFKD')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9 ]/g, '')
    .replaceAll(/ +/g, ' ')
    .trim();
  return (plain.length < 5 ? `${plain} ONLINE`.trim() : plain).slice(0, 22).trim();
}
