import { z } from 'zod';
import { defineEvent } from '../define.js';
import { absent, added, bool, code, cur, data, date, id, int, minor, oneOf, ref, ts } from '../payload.js';

const owner = 'payments' as const;

/** What a refund or dispute is about: the order, invoice or checkout that was settled, its amount (card, cash and credit), and what of it has gone back so far. */
const obligation = {
  obligation_type: added(oneOf('checkout', 'invoice', 'order')), obligation_id: added(id()), obligation_amount: added(minor(4900)),
  obligation_refunded: added(minor(4900)),
};

/** An invoice with example amounts, minor units. */
const invoice = ({ due = 0, refunded = 0, attempts = 1 }) => ({
  invoice_id: id(), number: code('acme-2026-000042'), subscription_id: id().nullable(), total_amount: minor(2900), amount_due: minor(due),
  amount_refunded: minor(refunded), currency: cur(), attempt_count: int(attempts), next_attempt_at: ts('2026-11-23T09:30:00.000Z').nullable(),
  period_start: ts('2026-11-20T09:30:00.000Z').nullable(), period_end: ts('2026-12-20T09:30:00.000Z').nullable(),
});

export const paymentCharged = defineEvent('payment.charged.v1',
  data({
    payment_id: id(), amount: minor(4900), currency: cur(), fee_amount: minor(172).nullable(), processor: code('sandbox'), purpose: code('order'),
    invoice_id: absent(id()), order_id: id().nullable(), subscription_id: absent(id()), captured_at: ts(),
  }),
  { owner, when: 'Money is captured for a payment.', user: 'required', scope: 'read:payments', consumers: ['accounting'] },
);

export const paymentFailed = defineEvent('payment.failed.v1',
  data({
    payment_id: id(), attempt: int(), amount: minor(4900), currency: cur(), category: code('insufficient_funds'),
    decline_code: code('insufficient_funds').nullable(), retryable: bool(), next_attempt_at: ts('2026-11-23T09:30:00.000Z').nullable(),
    invoice_id: absent(id()), order_id: id().nullable(), subscription_id: absent(id()),
  }),
  { owner, when: 'An attempt is declined or errors.', user: 'required', scope: 'read:payments', consumers: ['commerce', 'comms'] },
);

export const paymentPaid = defineEvent('payment.paid.v1',
  data({
    obligation_type: oneOf('checkout', 'invoice', 'order'), obligation_id: id(), payment_id: id().nullable(), order_id: id().nullable(),
    invoice_id: absent(id()), subscription_id: absent(id()), purpose: code('order'), subtotal_amount: minor(4900), discount_amount: minor(0),
    tax_amount: minor(0), shipping_amount: minor(0), cash_amount: minor(0), credit_amount: minor(0), total_amount: minor(4900), currency: cur(),
    promo_code: ref('SPRING20').nullable(), affiliate_code: ref('JANE10').nullable(), first_purchase: bool(), tax_region: added(code('us-ca')),
  }),
  {
    owner, revision: 2, when: 'An obligation is settled in full by any mix of card, cash, credit and gift; once.', user: 'required', scope: 'read:payments',
    consumers: ['accounting', 'affiliates', 'booking', 'commerce', 'comms'],
  },
);

export const paymentRefunded = defineEvent('payment.refunded.v1',
  data({
    refund_id: id(), payment_id: id(), amount: minor(4900), currency: cur(), status: oneOf('succeeded', 'failed'),
    reason: code('requested_by_customer'), origin: code('member'), to_cash: bool(), cash_return_amount: minor(0), tax_amount: minor(0),
    order_id: id().nullable(), invoice_id: absent(id()), subscription_id: absent(id()), payment_amount: minor(4900),
    total_refunded: minor(4900), credit_return_amount: added(minor(0)), tax_region: added(code('us-ca')), ...obligation,
  }),
  {
    owner, revision: 2, when: 'A refund settles, or a settled one bounces.', user: 'required', scope: 'read:payments',
    consumers: ['accounting', 'affiliates', 'cash', 'commerce', 'comms', 'entitlements', 'labs'],
  },
);

export const paymentScheduled = defineEvent('payment.scheduled.v1',
  data({
    subscription_id: id().nullable(), invoice_id: id().nullable(), amount: minor(2900), currency: cur(), charge_at: ts('2026-12-20T09:30:00.000Z'),
    kind: oneOf('renewal', 'trial_end', 'retry'),
  }),
  { owner, when: 'A future charge is fixed.', user: 'required', scope: 'read:payments', consumers: ['comms'] },
);

export const paymentDisputeCreated = defineEvent('payment.dispute.created.v1',
  data({
    dispute_id: id(), payment_id: id(), amount: minor(4900), fee_amount: minor(1500).nullable(), currency: cur(),
    reason: code('product_not_received'), status: code('needs_response'), evidence_due_at: ts('2026-12-04T09:30:00.000Z').nullable(),
    order_id: id().nullable(), invoice_id: absent(id()), subscription_id: absent(id()), ...obligation,
  }),
  { owner, revision: 2, when: 'A dispute of a payment opens.', user: 'required', scope: 'read:payments', consumers: ['accounting', 'affiliates', 'comms'] },
);

export const paymentDisputeClosed = defineEvent('payment.dispute.closed.v1',
  data({
    dispute_id: id(), payment_id: id(), amount: minor(4900), fee_amount: minor(1500).nullable(), currency: cur(),
    reason: code('product_not_received'), status: code('won'), outcome: oneOf('won', 'lost', 'withdrawn'), order_id: id().nullable(),
    invoice_id: absent(id()), subscription_id: absent(id()), ...obligation,
  }),
  {
    owner, revision: 2, when: 'A dispute is resolved.', user: 'required', scope: 'read:payments',
    consumers: ['accounting', 'affiliates', 'membership', 'entitlements'],
  },
);

export const paymentInvoicePaid = defineEvent('payment.invoice.paid.v1',
  data(invoice({})),
  { owner, when: 'An invoice is settled.', user: 'required', scope: 'read:invoices', consumers: ['accounting', 'membership', 'comms'] },
);

export const paymentInvoiceFailed = defineEvent('payment.invoice.failed.v1',
  data(invoice({ due: 2900 })),
  { owner, when: 'Collection of an invoice fails.', user: 'required', scope: 'read:invoices', consumers: ['comms'] },
);

export const paymentInvoicePastDue = defineEvent('payment.invoice.past_due.v1',
  data(invoice({ due: 2900, attempts: 4 })),
  { owner, when: 'Due date and grace of an invoice passed.', user: 'required', scope: 'read:invoices', consumers: ['membership', 'comms'] },
);

export const paymentInvoiceRefunded = defineEvent('payment.invoice.refunded.v1',
  data(invoice({ refunded: 2900 })),
  { owner, when: 'An invoice is credited.', user: 'required', scope: 'read:invoices', consumers: ['accounting'] },
);

export const subscriptionCreated = defineEvent('subscription.created.v1',
  z.discriminatedUnion('kind', [
    data({
      kind: z.literal('billing'), subscription_id: id(), price_id: id(), subject_kind: code('member'), subject_id: id(),
      tier: code('gold').nullable(), status: code('active'), source: code('checkout'), quantity: int(), interval: code('month'),
      interval_count: int(), amount: minor(2900), currency: cur(), current_period_end: ts('2026-12-20T09:30:00.000Z'),
      trial_ends_at: ts('2026-12-04T09:30:00.000Z').nullable(),
    }),
    data({
      kind: z.literal('product'), subscription_id: id(), brand_id: id(), cadence_unit: code('day'), cadence_count: int(30),
      next_order_on: date('2026-12-20'), item_count: int(2),
    }),
  ]),
  {
    owner, emitters: ['commerce'], when: 'A billing subscription is first active or trialing, or a product subscription is made.', user: 'required',
    scope: 'read:subscriptions', consumers: ['membership', 'comms'],
  },
);

export const subscriptionCancelled = defineEvent('subscription.cancelled.v1',
  z.discriminatedUnion('kind', [
    data({
      kind: z.literal('billing'), subscription_id: id(), reason: code('member_request'), subject_kind: code('member'), subject_id: id(),
      tier: code('gold').nullable(), ended_at: ts(), at_period_end: bool(), involuntary: bool(),
    }),
    data({ kind: z.literal('product'), subscription_id: id(), reason: code('member_request') }),
  ]),
  {
    owner, emitters: ['commerce'], when: 'The cancellation of a subscription takes effect.', user: 'required', scope: 'read:subscriptions',
    consumers: ['accounting', 'membership', 'comms'],
  },
);

export const subscriptionPaused = defineEvent('subscription.paused.v1',
  z.discriminatedUnion('kind', [
    data({
      kind: z.literal('billing'), subscription_id: id(), subject_kind: code('member'), subject_id: id(), tier: code('gold').nullable(),
      paused_at: ts(), resume_at: ts('2027-01-20T09:30:00.000Z').nullable(),
    }),
    data({ kind: z.literal('product'), subscription_id: id(), reason: code('member_request'), until: date('2026-12-20').nullable() }),
  ]),
  {
    owner, emitters: ['commerce'], when: 'The pause of a subscription takes effect.', user: 'required', scope: 'read:subscriptions',
    consumers: ['membership', 'comms'],
  },
);

export const subscriptionResumed = defineEvent('subscription.resumed.v1',
  z.discriminatedUnion('kind', [
    data({
      kind: z.literal('billing'), subscription_id: id(), subject_kind: code('member'), subject_id: id(), tier: code('gold').nullable(),
      resumed_at: ts(), current_period_end: ts('2026-12-20T09:30:00.000Z'),
    }),
    data({ kind: z.literal('product'), subscription_id: id(), reason: code('member_request'), next_order_on: date('2026-12-20') }),
  ]),
  {
    owner, emitters: ['commerce'], when: 'A subscription is active again.', user: 'required', scope: 'read:subscriptions',
    consumers: ['membership', 'comms'],
  },
);

export const subscriptionTierChanged = defineEvent('subscription.tier_changed.v1',
  data({
    kind: z.literal('billing'), subscription_id: id(), from_price_id: id(), to_price_id: id(), from_tier: code('silver').nullable(),
    to_tier: code('gold').nullable(), direction: oneOf('upgrade', 'downgrade'), effective_at: ts(),
  }),
  { owner, when: 'A plan change of a billing subscription takes effect.', user: 'required', scope: 'read:subscriptions', consumers: ['membership'] },
);
