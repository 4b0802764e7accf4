import { randomUUID } from 'node:crypto';
import type { commissionPosted, commissionReversed, earningsAccrued } from '../../events/catalogue/affiliates.js';
import type { cashExpired, cashGranted, cashSpent } from '../../events/catalogue/cash.js';
import type {
  paymentCharged,
  paymentDisputeClosed,
  paymentDisputeCreated,
  paymentInvoicePaid,
  paymentPaid,
  paymentRefunded,
} from '../../events/catalogue/payments.js';
import type { DataOf } from '../../events/define.js';

/** Payloads of the services that accounting listens to, as they would send them; what a test does not name is plain. */
export const chargedOf = (payment: string, amount: number, more: Partial<DataOf<typeof paymentCharged>> = {}) => ({
  payment_id: payment,
  amount,
  currency: 'USD',
  fee_amount: null,
  processor: 'sandbox',
  purpose: 'order',
  invoice_id: null,
  order_id: null,
  subscription_id: null,
  captured_at: '2026-11-10T00:00:00.000Z',
  ...more,
});

export const paidOf = (obligation: string, more: Partial<DataOf<typeof paymentPaid>> = {}): DataOf<typeof paymentPaid> => ({
  obligation_type: 'checkout',
  obligation_id: obligation,
  payment_id: null,
  order_id: null,
  invoice_id: null,
  subscription_id: null,
  purpose: 'order',
  subtotal_amount: 0,
  discount_amount: 0,
  tax_amount: 0,
  shipping_amount: 0,
  cash_amount: 0,
  credit_amount: 0,
  total_amount: 0,
  currency: 'USD',
  promo_code: null,
  affiliate_code: null,
  first_purchase: false,
  tax_region: null,
  ...more,
});

export const invoiceOf = (invoice: string, more: Partial<DataOf<typeof paymentInvoicePaid>> = {}): DataOf<typeof paymentInvoicePaid> => ({
  invoice_id: invoice,
  number: 'acme-2026-000042',
  subscription_id: null,
  total_amount: 0,
  amount_due: 0,
  amount_refunded: 0,
  currency: 'USD',
  attempt_count: 1,
  next_attempt_at: null,
  period_start: null,
  period_end: null,
  ...more,
});

export const refundedOf = (
  refund: string,
  payment: string,
  amount: number,
  more: Partial<DataOf<typeof paymentRefunded>> = {},
): DataOf<typeof paymentRefunded> => ({
  refund_id: refund,
  payment_id: payment,
  amount,
  currency: 'USD',
  status: 'succeeded',
  reason: 'requested_by_customer',
  origin: 'member',
  to_cash: false,
  cash_return_amount: 0,
  tax_amount: 0,
  order_id: null,
  invoice_id: null,
  subscription_id: null,
  payment_amount: amount,
  total_refunded: amount,
  credit_return_amount: 0,
  tax_region: null,
  obligation_type: 'checkout',
  obligation_id: payment,
  obligation_amount: amount,
  obligation_refunded: amount,
  ...more,
});

const ofDispute = (dispute: string, payment: string, amount: number) => ({
  dispute_id: dispute,
  payment_id: payment,
  amount,
  fee_amount: 1500,
  currency: 'USD',
  reason: 'product_not_received',
  order_id: null,
  invoice_id: null,
  subscription_id: null,
});

export const disputedOf = (dispute: string, payment: string, amount: number, status: string): DataOf<typeof paymentDisputeCreated> => ({
  ...ofDispute(dispute, payment, amount),
  status,
  evidence_due_at: null,
});

export const closedOf = (
  dispute: string,
  payment: string,
  amount: number,
  outcome: 'won' | 'lost' | 'withdrawn',
): DataOf<typeof paymentDisputeClosed> => ({ ...ofDispute(dispute, payment, amount), status: outcome, outcome });

export const grantedOf = (grant: string, amount: number, more: Partial<DataOf<typeof cashGranted>> = {}): DataOf<typeof cashGranted> => ({
  grant_id: grant,
  source: 'bonus',
  amount,
  currency: 'USD',
  expires_at: null,
  reference_type: null,
  reference_id: null,
  balance: amount,
  ...more,
});

export const spentOf = (spend: string, amount: number, reference: string): DataOf<typeof cashSpent> => ({
  spend_id: spend,
  amount,
  currency: 'USD',
  reference_type: 'checkout',
  reference_id: reference,
  lots: [{ grant_id: randomUUID(), amount, source: 'bonus' }],
  balance: 0,
});

export const expiredOf = (grant: string, amount: number, more: Partial<DataOf<typeof cashExpired>> = {}): DataOf<typeof cashExpired> => ({
  grant_id: grant,
  amount,
  currency: 'USD',
  reason: 'expired',
  source: 'promotion',
  balance: 0,
  reference_type: null,
  reference_id: null,
  ...more,
});

export const accruedOf = (accrual: string, amount: number): DataOf<typeof earningsAccrued> => ({
  accrual_id: accrual,
  affiliate_id: randomUUID(),
  amount,
  currency: 'USD',
  source_type: 'order',
  source_id: randomUUID(),
  hold_until: '2026-12-20T00:00:00.000Z',
});

export const commissionOf = (commission: string, amount: number): DataOf<typeof commissionPosted> => ({
  commission_id: commission,
  affiliate_id: randomUUID(),
  order_id: null,
  subscription_id: null,
  amount,
  currency: 'USD',
  rate_bps: 1000,
  tier: 'gold',
  payable_at: '2026-12-01T00:00:00.000Z',
  accrual_id: null,
});

export const clawedBackOf = (commission: string, amount: number): DataOf<typeof commissionReversed> => ({
  commission_id: commission,
  affiliate_id: randomUUID(),
  amount,
  currency: 'USD',
  reason: 'refund',
  reversed_at: '2026-11-10T00:00:00.000Z',
  reversal_id: randomUUID(),
});
