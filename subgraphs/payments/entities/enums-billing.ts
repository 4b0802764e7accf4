import { registerEnums } from '../../../runtime/schema/enums.js';

export enum BillingSubscriptionStatus {
  INCOMPLETE = 'incomplete',
  INCOMPLETE_EXPIRED = 'incomplete_expired',
  TRIALING = 'trialing',
  ACTIVE = 'active',
  PAST_DUE = 'past_due',
  PAUSED = 'paused',
  CANCELLED = 'cancelled',
}

export enum BillingSubscriptionSource {
  PURCHASE = 'purchase',
  GIFT = 'gift',
  COMP = 'comp',
}

export enum BillingInterval {
  DAY = 'day',
  WEEK = 'week',
  MONTH = 'month',
  YEAR = 'year',
}

export enum SubscriptionChangeStatus {
  PENDING = 'pending',
  AWAITING_PAYMENT = 'awaiting_payment',
  APPLIED = 'applied',
  DROPPED = 'dropped',
}

export enum InvoiceStatus {
  DRAFT = 'draft',
  OPEN = 'open',
  PAST_DUE = 'past_due',
  PAID = 'paid',
  UNCOLLECTIBLE = 'uncollectible',
  VOID = 'void',
}

export enum InvoiceKind {
  PERIOD = 'period',
  CHANGE = 'change',
  ONE_TIME = 'one_time',
}

export enum InvoiceLineKind {
  RECURRING = 'recurring',
  PRORATION_CREDIT = 'proration_credit',
  PRORATION_CHARGE = 'proration_charge',
  ONE_TIME = 'one_time',
  DISCOUNT = 'discount',
  TAX = 'tax',
  SHIPPING = 'shipping',
}

registerEnums(
  {
    BillingSubscriptionStatus,
    BillingSubscriptionSource,
    BillingInterval,
    SubscriptionChangeStatus,
    InvoiceStatus,
    InvoiceKind,
    InvoiceLineKind,
  },
  {
    InvoiceKind: 'PERIOD: of a billing period, once for each; CHANGE: proration of a change within one.',
  },
);
