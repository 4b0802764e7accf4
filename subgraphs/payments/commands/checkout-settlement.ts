import { lockOnce } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import type { CheckoutSession } from '../entities/checkout.js';
import { BillingCustomer } from '../entities/customer.js';
import { BillingSessionStatus as Status, CheckoutMode, CheckoutStep } from '../entities/enums-payment.js';
import { InvoiceStatus } from '../entities/enums-billing.js';
import type { Invoice } from '../entities/invoice.js';
import type { Payment } from '../entities/payment.js';
import { dueOf, shrunk } from '../rules/checkout.js';
import { obligationPaid, settleInvoice } from './obligation.js';
import { redeem } from './promo.js';

/** The payment of a session moved, and no money has arrived. Both are locked. */
export async function checkoutChanged(_ctx: Context, session: CheckoutSession, payment: Payment, status: Status): Promise<void> {
  const { lastError, id: paymentId } = payment;
  Object.assign(session, { status, lastError, paymentId, stepDueAt: null, version: session.version + 1 });
}

/** What is held cannot be had any more: everything goes back. Source: payments 5.3. */
export function undoCheckout(ctx: Context, session: CheckoutSession, endAs: Status.CANCELLED | Status.EXPIRED): void {
  Object.assign(session, { step: CheckoutStep.UNDOING, stepDueAt: ctx.now(), stepTries: 0, endAs, version: session.version + 1 });
}

/** Less was captured than authorized: what is owed was less. */
function shrink(session: CheckoutSession, captured: number): void {
  if (captured === session.totalMinor) return;
  const { subtotalMinor: subtotal, discountMinor: discount, taxMinor: tax, shippingMinor: shipping } = session;
  const totals = shrunk({ subtotal, discount, tax, shipping }, session.totalMinor - captured);
  Object.assign(session, {
    subtotalMinor: totals.subtotal,
    taxMinor: totals.tax,
    shippingMinor: totals.shipping,
    totalMinor: dueOf(totals) - session.cashAppliedMinor - session.creditAppliedMinor,
  });
}

/**
 * All of a session's card part has arrived: its promo is redeemed, and where cash is held, that is spent next, by the saga. Session, invoice
 * and payment are locked. Source: payments 5.3, step 4.
 */
export async function checkoutCharged(
  ctx: Context,
  session: CheckoutSession,
  payment: Payment | null,
  invoice: Invoice | null,
): Promise<void> {
  if (payment) shrink(session, payment.amountCapturedMinor);
  Object.assign(session, {
    step: CheckoutStep.SETTLING,
    stepDueAt: ctx.now(),
    status: Status.PROCESSING,
    lastError: null,
    paymentId: payment?.id ?? null,
    version: session.version + 1,
  });
  if (invoice?.status === InvoiceStatus.VOID) return undoCheckout(ctx, session, Status.CANCELLED); // taken back meanwhile
  const isRedeemed = session.promoId === null || (await redeem(ctx, { checkoutSessionId: session.id }));
  if (!isRedeemed) return undoCheckout(ctx, session, Status.CANCELLED);
  if (session.cashReservationId === null) await completeCheckout(ctx, session, payment, invoice);
}

/** Everything that settles a session is taken: it is COMPLETE, and its obligation is paid. Session, invoice and payment are locked. */
export async function completeCheckout(
  ctx: Context,
  session: CheckoutSession,
  payment: Payment | null,
  invoice: Invoice | null,
): Promise<void> {
  Object.assign(session, {
    status: Status.COMPLETE,
    step: CheckoutStep.DONE,
    stepDueAt: null,
    extendHoldsAt: null,
    tokenHash: null,
    tokenSealed: null,
    paidAt: ctx.now(),
    version: session.version + 1,
  });
  ctx.audit('checkout.completed', session.id, { total: session.totalMinor, currency: session.currency });
  if (invoice) return settleInvoice(ctx, invoice, payment);
  if (session.mode === CheckoutMode.SUBSCRIPTION) return; // it is tried first: nothing is owed
  const customer = await lockOnce(ctx, BillingCustomer, session.customerId);
  session.firstPurchase = obligationPaid(ctx, customer, {
    type: session.orderId === null ? 'checkout' : 'order',
    id: session.orderId ?? session.id,
    userId: session.userId,
    paymentId: payment?.id ?? null,
    orderId: session.orderId,
    invoiceId: null,
    subscriptionId: null,
    purpose: session.purpose,
    currency: session.currency,
    subtotal: session.subtotalMinor,
    discount: session.discountMinor,
    tax: session.taxMinor,
    shipping: session.shippingMinor,
    cash: session.cashAppliedMinor,
    credit: session.creditAppliedMinor,
    total: session.totalMinor,
    promoCode: session.promoCode,
    affiliateCode: session.affiliateCode,
    taxRegion: session.taxRegion,
  });
}
