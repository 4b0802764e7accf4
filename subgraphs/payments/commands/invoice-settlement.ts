import { lockOnce, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { BillingSubscriptionStatus, InvoiceKind, InvoiceStatus } from '../entities/enums-billing.js';
import { DeclineCategory, PaymentMethodStatus, PaymentStatus } from '../entities/enums-payment.js';
import type { Invoice } from '../entities/invoice.js';
import { PaymentMethod } from '../entities/payment-method.js';
import type { Payment, PaymentAttempt } from '../entities/payment.js';
import { BillingSubscription } from '../entities/subscription.js';
import { DUNNING, finalAt, nextAttempt } from '../rules/dunning.js';
import { INVOICE_STATES, isCollected } from '../rules/invoice-states.js';
import { PAYMENT_STATES, type PaymentTrigger } from '../rules/payment-states.js';
import { emitInvoice, emitScheduled } from './billing-events.js';
import { noteDelinquency, noteOverdue, onceNumbered, stopCollection } from './invoice.js';
import { applyAwaiting, dropAwaiting } from './change-effect.js';
import { redeem } from './promo.js';
import { subscriptionFellDue, subscriptionSettled } from './subscription-state.js';

/**
 * An invoice whose last due was settled, in the transaction of its payment (null: by cash and credit alone). The invoice is locked.
 * One that is paid already stays as it is.
 */
export async function invoiceSettled(ctx: Context, invoice: Invoice, payment: Payment | null): Promise<void> {
  if (invoice.status === InvoiceStatus.PAID) return;
  const wasOverdue = invoice.status === InvoiceStatus.PAST_DUE;
  if (payment) {
    invoice.amountPaidMinor += payment.amountCapturedMinor;
    invoice.attemptCount += 1;
  }
  invoice.status = move(INVOICE_STATES, 'invoice', invoice.status, 'settle');
  invoice.paidAt = ctx.now();
  stopCollection(invoice);
  onceNumbered(ctx, invoice, () => {
    emitInvoice(ctx, 'paid', invoice);
    ctx.audit('invoice.paid', invoice.id, { number: invoice.number, paid: invoice.amountPaidMinor, currency: invoice.currency });
  });
  if (invoice.subscriptionId) await settleSubscription(ctx, invoice, invoice.subscriptionId);
  if (wasOverdue) await noteDelinquency(ctx, invoice.customerId);
}

async function settleSubscription(ctx: Context, invoice: Invoice, subscriptionId: string): Promise<void> {
  const subscription = await lockOnce(ctx, BillingSubscription, subscriptionId);
  if (subscription.status === BillingSubscriptionStatus.INCOMPLETE || invoice.kind === InvoiceKind.CHANGE) await ctx.em.flush();
  if (invoice.kind === InvoiceKind.CHANGE) return applyAwaiting(ctx, subscription, invoice);
  if (subscription.status === BillingSubscriptionStatus.INCOMPLETE && invoice.promoId) await redeem(ctx, { subscriptionId });
  return subscriptionSettled(ctx, subscription, invoice);
}

/** The first invoice of a purchase is no debt: without payment nothing comes of it. */
async function isDebt(ctx: Context, { subscriptionId }: Invoice): Promise<boolean> {
  if (subscriptionId === null) return true;
  const subscription = await lockOnce(ctx, BillingSubscription, subscriptionId);
  return subscription.status !== BillingSubscriptionStatus.INCOMPLETE;
}

interface Declined {
  category: DeclineCategory;
  declineCode: string | null;
  /** Method that was charged; null: there was none to charge. */
  paymentMethodId: string | null;
}

/** An attempt of the invoice's payment failed, in the transaction that found out. The invoice is locked. @returns when it is tried again. */
export async function invoiceChargeFailed(ctx: Context, invoice: Invoice, payment: Payment, attempt: PaymentAttempt): Promise<Date | null> {
  const { category, declineCode, paymentMethodId } = attempt;
  const next = await collectionFailed(ctx, invoice, { category: category ?? DeclineCategory.SOFT, declineCode, paymentMethodId });
  const isOver = invoice.status === InvoiceStatus.VOID && payment.status === PaymentStatus.REQUIRES_PAYMENT_METHOD;
  if (isOver) payment.status = move<PaymentStatus, PaymentTrigger>(PAYMENT_STATES, 'payment', payment.status, 'give_up');
  return next;
}

/**
 * Money for an invoice did not come: it is past due, and is tried again as its brand's schedule says. The invoice is locked.
 * @returns when it is tried again; null: only after the customer or another method did something.
 */
export async function collectionFailed(ctx: Context, invoice: Invoice, declined: Declined): Promise<Date | null> {
  if (!isCollected(invoice.status)) return null;
  if (declined.paymentMethodId) invoice.attemptCount += 1;
  await rememberHard(ctx, invoice, declined);
  if (invoice.kind === InvoiceKind.CHANGE) {
    if (declined.category !== DeclineCategory.ACTION_REQUIRED) await dropAwaiting(ctx, invoice, 'payment_failed');
    return null;
  }
  if (!(await isDebt(ctx, invoice))) return null;
  await fallDue(ctx, invoice, declined.category);
  return invoice.nextAttemptAt;
}

async function fallDue(ctx: Context, invoice: Invoice, category: DeclineCategory): Promise<void> {
  const policy = invoice.dunning ?? DUNNING;
  const isFirst = invoice.pastDueAt === null;
  invoice.firstFailedAt ??= ctx.now();
  invoice.pastDueAt ??= ctx.now();
  stopCollection(invoice);
  invoice.nextAttemptAt = nextAttempt(category, invoice.firstFailedAt, ctx.now(), policy);
  invoice.giveUpAt = finalAt(invoice.firstFailedAt, policy);
  invoice.status = move(INVOICE_STATES, 'invoice', invoice.status, 'fall_due');
  onceNumbered(ctx, invoice, () => tellFailed(ctx, invoice, category, isFirst));
  if (invoice.subscriptionId) await subscriptionFellDue(ctx, invoice, invoice.subscriptionId);
  await noteOverdue(ctx, invoice.customerId);
}

function tellFailed(ctx: Context, invoice: Invoice, category: DeclineCategory, isFirst: boolean): void {
  if (isFirst) emitInvoice(ctx, 'past_due', invoice);
  emitInvoice(ctx, 'failed', invoice);
  if (invoice.nextAttemptAt) emitScheduled(ctx, retryOf(invoice, invoice.nextAttemptAt));
  ctx.audit('invoice.failed', invoice.id, { number: invoice.number, category, next_attempt_at: invoice.nextAttemptAt });
}

const retryOf = ({ id, userId, brandId, subscriptionId, amountDueMinor: amount, currency }: Invoice, chargeAt: Date) =>
  ({ userId, brandId, subscriptionId, invoiceId: id, amount, currency, chargeAt, kind: 'retry' }) as const;

/** A method that its issuer refuses for good is not charged again, here or for another invoice. Source: payments 3.5. */
async function rememberHard(ctx: Context, invoice: Invoice, { category, declineCode, paymentMethodId }: Declined): Promise<void> {
  if (category !== DeclineCategory.HARD || paymentMethodId === null) return;
  invoice.hardDeclinedMethodId = paymentMethodId;
  const method = await lockRow(ctx, PaymentMethod, { id: paymentMethodId });
  if (method.status !== PaymentMethodStatus.ACTIVE) return;
  method.status = declineCode === 'expired_card' ? PaymentMethodStatus.EXPIRED : PaymentMethodStatus.REQUIRES_UPDATE;
  ctx.audit('payment_method.refused', method.id, { code: declineCode });
}
