import { after } from '../../../../runtime/time/durations.js';
import type { CheckoutSession } from '../../entities/checkout.js';
import type { BillingCustomer } from '../../entities/customer.js';
import type { CashHold } from '../../ports/cash.js';
import { dueOf, HOLD_MARGIN_MS } from '../../rules/checkout.js';

/** What a session costs before cash and credit, minor units. */
export const totalsOf = ({ subtotalMinor, discountMinor, taxMinor, shippingMinor }: CheckoutSession): number =>
  dueOf({ subtotal: subtotalMinor, discount: discountMinor, tax: taxMinor, shipping: shippingMinor });

export function noteHold(session: CheckoutSession, hold: CashHold | null): void {
  if (hold && hold.id !== session.cashReservationId) session.holds += 1;
  session.cashReservationId = hold?.id ?? null;
  session.extendHoldsAt = hold && after(hold.expiresAt, -HOLD_MARGIN_MS);
}

/**
 * Takes what is left after cash from the customer's credit, and only then from the card; what was taken before is given back first. The
 * session changes at once: its amounts always add up. Both are locked.
 */
export function applyHolds(session: CheckoutSession, customer: BillingCustomer, cash: CashHold | null): void {
  const left = totalsOf(session) - (cash?.amount ?? 0);
  const balance = customer.creditBalanceMinor + session.creditAppliedMinor;
  const credit = customer.currency === session.currency ? Math.min(balance, left) : 0;
  customer.creditBalanceMinor = balance - credit;
  noteHold(session, cash);
  Object.assign(session, { cashAppliedMinor: cash?.amount ?? 0, creditAppliedMinor: credit, totalMinor: left - credit });
}
