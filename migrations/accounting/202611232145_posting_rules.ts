import { Migration } from '@mikro-orm/migrations';

const CASH_WALLET = 'liabilities:wallet:cash:{user_id}';
const PROCESSOR = 'assets:processor:{processor}';
const NET = ['total_amount', 'cash_amount', 'credit_amount', '-tax_amount'];

/** The chargeback of a dispute that stands; the same lines the other way round when it is won. */
const DISPUTE = ['dispute_id', 'payment_id', 'processor'];

/**
 * First version of each rule. Facts besides the event's own keys: `processor` and `charge_seen` (of the charge of the payment), `drawn` and
 * `rest` (of a refund: from deferred revenue, and what is left of its net), `mirrored` (its counterpart was booked), `moved` (of a posted
 * commission: what is on hold), `is_posted`, `unassigned` (booked for the payment before its processor was known). Source: accounting 5.
 */
const RULES: Readonly<Record<string, object>> = {
  'payment.charged.v1': {
    service: 'payments',
    type: 'payment.charged',
    id: 'payment_id',
    description: 'payment charged',
    metadata: ['payment_id', 'processor', 'invoice_id', 'order_id', 'subscription_id', 'purpose'],
    lines: [
      { debit: PROCESSOR, amount: ['amount', '-fee_amount'] },
      { debit: 'expenses:processing_fees', amount: ['fee_amount'] },
      { credit: 'liabilities:clearing:payments', amount: ['amount'], flow: 'payment_id' },
      { debit: 'assets:processor:unassigned', amount: ['unassigned'], flow: 'payment_id' },
      { credit: PROCESSOR, amount: ['unassigned'] },
    ],
  },
  'payment.paid.v1': {
    service: 'payments',
    type: 'payment.paid',
    id: 'obligation_id',
    description: 'obligation settled',
    metadata: ['obligation_type', 'obligation_id', 'payment_id', 'order_id', 'invoice_id', 'subscription_id', 'purpose'],
    lines: [
      { debit: 'liabilities:clearing:payments', amount: ['total_amount'], flow: 'payment_id|obligation_id' },
      { debit: 'liabilities:clearing:cash', amount: ['cash_amount'], flow: 'obligation_id' },
      { debit: 'liabilities:wallet:credit:{user_id}', amount: ['credit_amount'] },
      { credit: "liabilities:tax:{tax_region|'unknown'}", amount: ['tax_amount'] },
      { credit: 'income:sales:order', amount: NET, when: { purpose: ['order'] } },
      { credit: 'income:sales:telehealth', amount: NET, when: { purpose: ['telehealth'] } },
      { credit: 'liabilities:gifts', amount: NET, when: { purpose: ['gift'] } },
      { credit: 'liabilities:deferred_revenue', amount: NET, when: { purpose: ['subscription'] }, recognition: 'invoice_id|obligation_id' },
      {
        credit: 'liabilities:deferred_revenue',
        amount: NET,
        when: { purpose: ['invoice'], subscription_id: 'present' },
        recognition: 'invoice_id|obligation_id',
      },
      { credit: 'income:sales:other', amount: NET, when: { purpose: ['invoice'], subscription_id: 'absent' } },
      { credit: 'income:sales:other', amount: NET, when: { is_other: [true] } },
    ],
  },
  'payment.refunded.v1': {
    service: 'payments',
    type: 'payment.refunded.{status}',
    id: 'refund_id',
    description: 'payment refunded',
    metadata: ['refund_id', 'payment_id', 'obligation_type', 'obligation_id', 'order_id', 'invoice_id', 'subscription_id'],
    lines: [
      { debit: 'liabilities:clearing:payments', amount: ['amount'], when: { is_settled: [false] }, flow: 'payment_id' },
      { debit: 'liabilities:deferred_revenue', amount: ['drawn'], when: { is_settled: [true] }, flow: 'schedule_key' },
      { debit: 'contra_income:refunds', amount: ['rest'], when: { is_settled: [true] } },
      { debit: "liabilities:tax:{tax_region|'unknown'}", amount: ['tax_amount'], when: { is_settled: [true] } },
      { credit: PROCESSOR, amount: ['amount'], when: { to_cash: [false], charge_seen: [true] } },
      { credit: 'assets:processor:unassigned', amount: ['amount'], when: { to_cash: [false], charge_seen: [false] }, flow: 'payment_id' },
      { credit: 'liabilities:clearing:cash', amount: ['amount'], when: { to_cash: [true] }, flow: 'refund_id' },
      { credit: 'liabilities:clearing:cash', amount: ['cash_return_amount'], when: { is_settled: [true] }, flow: 'refund_id' },
      { credit: 'liabilities:wallet:credit:{user_id}', amount: ['credit_return_amount'], when: { is_settled: [true] } },
    ],
  },
  'payment.dispute.created.v1': {
    service: 'payments',
    type: 'payment.dispute.created.{status}',
    id: 'dispute_id',
    description: 'payment disputed',
    when: { status: ['needs_response'] },
    metadata: DISPUTE,
    lines: [
      { debit: 'assets:disputes_receivable', amount: ['amount'], flow: 'dispute_id' },
      { debit: 'expenses:dispute_fees', amount: ['fee_amount'] },
      { credit: PROCESSOR, amount: ['amount', 'fee_amount'], when: { charge_seen: [true] } },
      { credit: 'assets:processor:unassigned', amount: ['amount', 'fee_amount'], when: { charge_seen: [false] }, flow: 'payment_id' },
    ],
  },
  'payment.dispute.closed.v1': {
    service: 'payments',
    type: 'payment.dispute.closed.{outcome}',
    id: 'dispute_id',
    description: 'dispute closed',
    when: { is_booked: [true] },
    metadata: DISPUTE,
    lines: [
      { debit: PROCESSOR, amount: ['amount'], when: { outcome: ['won', 'withdrawn'], charge_seen: [true] } },
      {
        debit: 'assets:processor:unassigned',
        amount: ['amount'],
        when: { outcome: ['won', 'withdrawn'], charge_seen: [false] },
        flow: 'payment_id',
      },
      { debit: 'expenses:chargebacks', amount: ['amount'], when: { outcome: ['lost'] } },
      { credit: 'assets:disputes_receivable', amount: ['amount'], flow: 'dispute_id' },
    ],
  },
  'cash.granted.v1': {
    service: 'cash',
    type: 'cash.granted',
    id: 'grant_id',
    description: 'cash granted',
    metadata: ['grant_id', 'reference_type', 'reference_id'],
    lines: [
      { debit: 'expenses:promotions', amount: ['amount'], when: { source: ['promotion', 'bonus', 'referral', 'staff'] } },
      { debit: 'liabilities:gifts', amount: ['amount'], when: { source: ['gift'] } },
      { debit: 'liabilities:clearing:cash', amount: ['amount'], when: { source: ['refund'] }, flow: 'reference_id|grant_id' },
      { credit: CASH_WALLET, amount: ['amount'] },
    ],
  },
  'cash.spent.v1': {
    service: 'cash',
    type: 'cash.spent',
    id: 'spend_id',
    description: 'cash spent',
    metadata: ['spend_id', 'reference_type', 'reference_id'],
    lines: [
      { debit: CASH_WALLET, amount: ['amount'] },
      { credit: 'liabilities:clearing:cash', amount: ['amount'], flow: 'reference_id' },
    ],
  },
  'cash.expired.v1': {
    service: 'cash',
    type: 'cash.expired',
    id: 'grant_id',
    description: 'cash expired',
    metadata: ['grant_id', 'reference_type', 'reference_id', 'reason', 'event_id'],
    lines: [
      { debit: CASH_WALLET, amount: ['amount'] },
      { credit: 'liabilities:clearing:cash', amount: ['amount'], when: { reference_type: ['refund'] }, flow: 'reference_id' },
      { credit: 'income:breakage', amount: ['amount'], when: { is_refund: [false] } },
    ],
  },
  'earnings.accrued.v1': {
    service: 'affiliates',
    type: 'earnings.accrued',
    id: 'accrual_id',
    description: 'commission on hold',
    metadata: ['accrual_id', 'affiliate_id'],
    lines: [
      { debit: 'expenses:commissions', amount: ['amount'] },
      { credit: 'liabilities:earnings_pending:{user_id}', amount: ['amount'], flow: 'accrual_id' },
    ],
  },
  'affiliate.commission.posted.v1': {
    service: 'affiliates',
    type: 'affiliate.commission.posted',
    id: 'accrual_id|commission_id',
    description: 'commission owed',
    metadata: ['commission_id', 'accrual_id', 'affiliate_id'],
    lines: [
      { debit: 'liabilities:earnings_pending:{user_id}', amount: ['moved'], flow: 'accrual_id|commission_id' },
      { credit: 'liabilities:wallet:earnings:{user_id}', amount: ['moved'] },
    ],
  },
  'affiliate.commission.reversed.v1': {
    service: 'affiliates',
    type: 'affiliate.commission.reversed',
    id: 'reversal_id|commission_id',
    description: 'commission reversed',
    metadata: ['commission_id', 'reversal_id', 'affiliate_id', 'reason'],
    lines: [
      { debit: 'liabilities:wallet:earnings:{user_id}', amount: ['amount'], when: { is_posted: [true] } },
      { debit: 'liabilities:earnings_pending:{user_id}', amount: ['amount'], when: { is_posted: [false] }, flow: 'commission_id' },
      { credit: 'expenses:commissions', amount: ['amount'] },
    ],
  },
};

const quoted = (definition: object): string => `'${JSON.stringify(definition).replaceAll("'", "''")}'::jsonb`;

const row = ([type, definition]: [string, object], at: number): string =>
  `('0190b3a0-0000-7000-8000-0000acc0${(at + 1).toString(16).padStart(4, '0')}', '${type}', 1, ${quoted(definition)}, '2026-11-20')`;

export class PostingRules extends Migration {
  override up(): void {
    const rows = Object.entries(RULES).map(row).join(', ');
    this.addSql(`insert into accounting.posting_rule (id, event_type, version, definition, created_at) values ${rows}`);
  }
}
