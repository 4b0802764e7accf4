import { paymentCharged, paymentFailed } from '../../../events/catalogue/payments.js';
import { lockOnce, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { CheckoutSession } from '../entities/checkout.js';
import { BillingCustomer } from '../entities/customer.js';
import { InvoiceStatus } from '../entities/enums-billing.js';
import { BillingSessionStatus, PaymentStatus } from '../entities/enums-payment.js';
import { isRetryable } from '../rules/decline.js';
import { GiftCheckoutSession } from '../entities/gift.js';
import { Invoice } from '../entities/invoice.js';
import { Payment, type PaymentAttempt } from '../entities/payment.js';
import { BillingSubscription } from '../entities/subscription.js';
import { checkoutChanged, checkoutCharged } from './checkout-settlement.js';
import { giftChargeChanged, giftPaid } from './gift-settlement.js';
import { invoiceChargeFailed } from './invoice-settlement.js';
import { obligationPaid, settleInvoice } from './obligation.js';
import { refundLost } from './refund/lost.js';

/** What a payment is for, its rows locked. */
export interface Obligation {
  readonly session: CheckoutSession | null;
  readonly gift: GiftCheckoutSession | null;
  readonly invoice: Invoice | null;
}

/** Which rows those are. */
export type Subject = Pick<Payment, 'checkoutSessionId' | 'giftSessionId' | 'subscriptionId' | 'invoiceId'>;

/** Locks what a payment is for. Rows are locked in the order session, subscription, invoice, payment, customer everywhere, against deadlocks. */
export async function lockObligation(
  ctx: Context,
  { checkoutSessionId, giftSessionId, subscriptionId, invoiceId }: Subject,
): Promise<Obligation> {
  const session = checkoutSessionId === null ? null : await lockRow(ctx, CheckoutSession, { id: checkoutSessionId });
  const gift = giftSessionId === null ? null : await lockRow(ctx, GiftCheckoutSession, { id: giftSessionId });
  if (subscriptionId !== null) await lockRow(ctx, BillingSubscription, { id: subscriptionId });
  const invoice = invoiceId === null ? null : await lockRow(ctx, Invoice, { id: invoiceId });
  return { session, gift, invoice };
}

/** Money was captured: the payment is SUCCEEDED and locked, and so is what it is for. Source: payments 3.1, 5.3. */
export async function settle(ctx: Context, payment: Payment, { session, gift, invoice }: Obligation): Promise<void> {
  emitCharged(ctx, payment);
  if (session) return checkoutCharged(ctx, session, payment, invoice);
  if (gift) return settleGift(ctx, gift, payment);
  if (invoice?.status === InvoiceStatus.VOID) return refundLost(ctx, payment); // taken back meanwhile: nothing is owed
  if (invoice) return settleInvoice(ctx, invoice, payment);
}

function emitCharged(ctx: Context, payment: Payment): void {
  const data = {
    payment_id: payment.id,
    amount: payment.amountCapturedMinor,
    currency: payment.currency,
    fee_amount: payment.feeMinor,
    processor: payment.processor,
    purpose: payment.purpose,
    invoice_id: payment.invoiceId,
    order_id: payment.orderId,
    subscription_id: payment.subscriptionId,
    captured_at: payment.capturedAt!.toISOString(),
  };
  ctx.emit(paymentCharged, data, { userId: payment.userId });
}

async function settleGift(ctx: Context, gift: GiftCheckoutSession, payment: Payment): Promise<void> {
  const customer = await lockOnce(ctx, BillingCustomer, gift.customerId);
  gift.firstPurchase = obligationPaid(ctx, customer, {
    type: 'checkout',
    id: gift.id,
    userId: gift.userId,
    paymentId: payment.id,
    orderId: null,
    invoiceId: null,
    subscriptionId: null,
    purpose: payment.purpose,
    currency: gift.currency,
    subtotal: gift.subtotalMinor,
    discount: gift.discountMinor,
    tax: gift.taxMinor,
    shipping: gift.shippingMinor,
    cash: gift.cashAppliedMinor,
    credit: gift.creditAppliedMinor,
    total: payment.amountCapturedMinor,
    promoCode: null,
    affiliateCode: null,
    taxRegion: null,
  });
  await giftPaid(ctx, gift, payment);
}

const SESSION_STATUS: Readonly<Partial<Record<PaymentStatus, BillingSessionStatus>>> = {
  [PaymentStatus.PROCESSING]: BillingSessionStatus.PROCESSING,
  [PaymentStatus.AUTHORIZED]: BillingSessionStatus.PROCESSING,
  [PaymentStatus.REQUIRES_ACTION]: BillingSessionStatus.REQUIRES_ACTION,
  [PaymentStatus.REQUIRES_PAYMENT_METHOD]: BillingSessionStatus.OPEN,
};

/** What a payment is for follows its state, where no money has arrived. Both are locked. */
export async function follow(ctx: Context, payment: Payment, { session, gift }: Obligation): Promise<void> {
  const isAbsent = payment.status === PaymentStatus.REQUIRES_ACTION && payment.offSession; // nobody is there to act, so it is as declined
  const status = isAbsent ? BillingSessionStatus.OPEN : SESSION_STATUS[payment.status];
  if (status === undefined) return;
  if (session) await checkoutChanged(ctx, session, payment, status);
  if (gift) await giftChargeChanged(ctx, gift, status);
}

/** An attempt failed: says so, and when it will be tried again. Both rows are locked. Source: payments 3.1, 3.5. */
export async function attemptFailed(ctx: Context, payment: Payment, attempt: PaymentAttempt, obligation: Obligation): Promise<void> {
  const { invoice, session } = obligation;
  const next = invoice && !session ? await invoiceChargeFailed(ctx, invoice, payment, attempt) : null;
  const data = {
    payment_id: payment.id,
    attempt: attempt.number,
    amount: payment.amountMinor,
    currency: payment.currency,
    category: attempt.category!,
    decline_code: attempt.declineCode,
    retryable: isRetryable(attempt.category!),
    next_attempt_at: next?.toISOString() ?? null,
    invoice_id: payment.invoiceId,
    order_id: payment.orderId,
    subscription_id: payment.subscriptionId,
  };
  ctx.emit(paymentFailed, data, { userId: payment.userId });
}
