import { FOR_UPDATE, findRow, lockOnce } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { BillingCustomer } from '../entities/customer.js';
import { DeclineCategory, PaymentAttemptStatus, PaymentMethodStatus, PaymentPurpose, PaymentStatus } from '../entities/enums-payment.js';
import type { Invoice } from '../entities/invoice.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import { BillingSubscription } from '../entities/subscription.js';
import { isUndecided } from '../rules/payment-states.js';
import { beginCharge, movePayment } from './charging.js';
import { collectionFailed } from './invoice-settlement.js';
import { settleInvoice } from './obligation.js';
import { invoiceSettled } from './invoice-settlement.js';

const ENDED = [PaymentStatus.SUCCEEDED, PaymentStatus.FAILED, PaymentStatus.CANCELLED];

/** Made out by the running transaction: it has its number when that ends, and no payment yet. */
const isNew = ({ number }: Invoice): boolean => number === null;

/** The payment of an invoice that has not ended, locked. */
export const lockPayment = (ctx: Context, invoiceId: string): Promise<Payment | null> =>
  ctx.em.findOne(Payment, { invoiceId, status: { $nin: ENDED } }, { ...FOR_UPDATE, refresh: true });

const newPayment = (ctx: Context, invoice: Invoice, customer: BillingCustomer): Payment =>
  Object.assign(new Payment(), {
    userId: invoice.userId,
    customerId: invoice.customerId,
    brandId: invoice.brandId,
    purpose: PaymentPurpose.INVOICE,
    status: PaymentStatus.REQUIRES_PAYMENT_METHOD,
    amountMinor: invoice.amountDueMinor,
    currency: invoice.currency,
    processor: customer.processor,
    invoiceId: invoice.id,
    subscriptionId: invoice.subscriptionId,
    statementDescriptor: 'SUBSCRIPTION',
    createdAt: ctx.now(),
  });

const USABLE = [PaymentMethodStatus.ACTIVE];

/** The subscription's own method, as the running transaction has read it, if it can be charged. Of a transaction's own context only. */
export async function ownMethod(ctx: Context, { paymentMethodId: id, customerId }: BillingSubscription): Promise<PaymentMethod | null> {
  const method = id === null ? null : await findRow(ctx, PaymentMethod, { id });
  return method?.customerId === customerId && USABLE.includes(method.status) ? method : null;
}

/** What an invoice is charged to: the subscription's method, else the customer's default; never one that was refused for good. */
export async function methodFor(ctx: Context, invoice: Invoice): Promise<PaymentMethod | null> {
  const subscription = invoice.subscriptionId ? await findRow(ctx, BillingSubscription, { id: invoice.subscriptionId }) : null;
  const methods = await ctx.em.find(PaymentMethod, { customerId: invoice.customerId, status: { $in: USABLE } }, { refresh: true });
  const usable = methods.filter(({ id }) => id !== invoice.hardDeclinedMethodId);
  return usable.find(({ id }) => id === subscription?.paymentMethodId) ?? usable.find(({ isDefault }) => isDefault) ?? null;
}

interface Collecting {
  /** The customer is absent. */
  offSession: boolean;
  /** Null: {@link methodFor}. */
  method?: PaymentMethod | null;
}

/**
 * Begins to collect what is due of an invoice, which is locked, and its subscription before it. Without anything due it is settled; without
 * a method the collection has failed. @returns the attempt that is to be made, outside the transaction; null: there is none to make.
 * @throws Problem conflict while another attempt is not decided.
 */
export async function collect(ctx: Context, invoice: Invoice, { offSession, method: named }: Collecting): Promise<PaymentAttempt | null> {
  invoice.nextAttemptAt = null;
  if (invoice.amountDueMinor === 0) return settleWithout(ctx, invoice);
  const method = named ?? (await methodFor(ctx, invoice));
  if (!method) {
    const failure = { category: DeclineCategory.HARD, declineCode: 'no_payment_method', paymentMethodId: null };
    await collectionFailed(ctx, invoice, failure);
    return null;
  }
  const customer = await lockOnce(ctx, BillingCustomer, invoice.customerId);
  const known = isNew(invoice) ? null : await lockPayment(ctx, invoice.id);
  const payment = known ?? newPayment(ctx, invoice, customer);
  return beginCharge(ctx, { payment, method, offSession });
}

async function settleWithout(ctx: Context, invoice: Invoice): Promise<null> {
  const wasSold = invoice.subtotalMinor > 0;
  await (wasSold ? settleInvoice(ctx, invoice, null) : invoiceSettled(ctx, invoice, null));
  return null;
}

/** The attempt of an invoice that is to be made or looked after; null: there is none. */
export async function openAttempt(ctx: Context, invoiceId: string): Promise<PaymentAttempt | null> {
  const payment = await ctx.em.findOne(Payment, { invoiceId, status: PaymentStatus.PROCESSING }, { refresh: true });
  if (!payment) return null;
  const attempts = await ctx.em.find(PaymentAttempt, { paymentId: payment.id }, { orderBy: { number: 'desc' }, limit: 1, refresh: true });
  return attempts.find(({ status }) => isUndecided(status)) ?? null;
}

/** Whether an attempt of the invoice is not decided, or waits for the customer. */
export async function isInProgress(ctx: Context, invoiceId: string): Promise<boolean> {
  const payment = await ctx.em.findOne(Payment, { invoiceId, status: { $nin: ENDED } }, { refresh: true });
  if (!payment) return false;
  if (payment.status === PaymentStatus.PROCESSING || payment.status === PaymentStatus.AUTHORIZED) return true;
  return (await ctx.em.count(PaymentAttempt, { paymentId: payment.id, status: PaymentAttemptStatus.REQUIRES_ACTION })) > 0;
}

/** An invoice is not collected any more: its payment ends, unless money may still arrive, which then goes back because the invoice is void. */
export async function endPayment(ctx: Context, invoiceId: string): Promise<void> {
  const payment = await lockPayment(ctx, invoiceId);
  if (payment?.status === PaymentStatus.REQUIRES_PAYMENT_METHOD) movePayment(payment, 'cancel');
  else if (payment?.status === PaymentStatus.REQUIRES_ACTION && !(await isInProgress(ctx, invoiceId))) movePayment(payment, 'cancel');
}
