import { paymentPaid } from '../../../events/catalogue/payments.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { BillingCustomer } from '../entities/customer.js';
import { InvoiceStatus } from '../entities/enums-billing.js';
import { PaymentPurpose } from '../entities/enums-payment.js';
import type { Invoice } from '../entities/invoice.js';
import type { Payment } from '../entities/payment.js';
import { invoiceSettled } from './invoice-settlement.js';

/** What was settled in full: amounts in minor units; a gift's obligation is its checkout session. */
export interface SettledObligation {
  type: 'checkout' | 'invoice' | 'order';
  id: string;
  userId: string;
  paymentId: string | null;
  orderId: string | null;
  invoiceId: string | null;
  subscriptionId: string | null;
  purpose: PaymentPurpose;
  currency: string;
  subtotal: number;
  discount: number;
  tax: number;
  shipping: number;
  cash: number;
  credit: number;
  /** The card's part. */
  total: number;
  promoCode: string | null;
  affiliateCode: string | null;
  taxRegion: string | null;
}

/** Whether it is the customer's first purchase, which fixes their currency. The customer is locked. */
function isFirstOf(ctx: Context, customer: BillingCustomer, currency: string): boolean {
  if (customer.firstPaidAt !== null) return false;
  customer.firstPaidAt = ctx.now();
  if (!customer.currencyFixed) Object.assign(customer, { currency, currencyFixed: true });
  return true;
}

/**
 * Says once that an obligation is settled in full; the caller's row, locked, knows that it was not before. @param customer locked; null: one
 * who has purchased before. @returns whether it was the customer's first purchase. Source: payments 5.1, 7.13.
 */
export function obligationPaid(ctx: Context, customer: BillingCustomer | null, one: SettledObligation): boolean {
  const isFirst = customer !== null && isFirstOf(ctx, customer, one.currency);
  const data = {
    obligation_type: one.type,
    obligation_id: one.id,
    payment_id: one.paymentId,
    order_id: one.orderId,
    invoice_id: one.invoiceId,
    subscription_id: one.subscriptionId,
    purpose: one.purpose,
    subtotal_amount: one.subtotal,
    discount_amount: one.discount,
    tax_amount: one.tax,
    shipping_amount: one.shipping,
    cash_amount: one.cash,
    credit_amount: one.credit,
    total_amount: one.total,
    currency: one.currency,
    promo_code: one.promoCode,
    affiliate_code: one.affiliateCode,
    first_purchase: isFirst,
    tax_region: one.taxRegion,
  };
  ctx.emit(paymentPaid, data, { userId: one.userId });
  return isFirst;
}

/** An invoice whose due is 0 now, paid by a card (renewal, dunning, by hand) or by cash and credit alone. The invoice is locked. */
export async function settleInvoice(ctx: Context, invoice: Invoice, payment: Payment | null): Promise<void> {
  const concerns = invoice.firstPurchase !== false || invoice.status === InvoiceStatus.PAST_DUE; // it may be their first purchase, or their last debt
  const customer = concerns ? await lockRow(ctx, BillingCustomer, { id: invoice.customerId }) : null;
  await invoiceSettled(ctx, invoice, payment);
  invoice.firstPurchase = obligationPaid(ctx, customer, {
    type: 'invoice',
    id: invoice.id,
    userId: invoice.userId,
    paymentId: payment?.id ?? null,
    orderId: null,
    invoiceId: invoice.id,
    subscriptionId: invoice.subscriptionId,
    purpose: invoice.subscriptionId === null ? PaymentPurpose.INVOICE : PaymentPurpose.SUBSCRIPTION,
    currency: invoice.currency,
    subtotal: invoice.subtotalMinor,
    discount: invoice.discountMinor,
    tax: invoice.taxMinor,
    shipping: invoice.shippingMinor,
    cash: invoice.cashAppliedMinor,
    credit: invoice.creditAppliedMinor,
    total: payment?.amountCapturedMinor ?? 0,
    promoCode: invoice.promoCode,
    affiliateCode: invoice.affiliateCode,
    taxRegion: invoice.taxRegion,
  });
}
