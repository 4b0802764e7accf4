import { registerEnums } from '../../../runtime/schema/enums.js';

export enum PromoKind {
  PERCENT = 'percent',
  AMOUNT = 'amount',
  TRIAL_DAYS = 'trial_days',
}

export enum PromoDuration {
  ONCE = 'once',
  REPEATING = 'repeating',
  FOREVER = 'forever',
}

export enum PromoStatus {
  SCHEDULED = 'scheduled',
  ACTIVE = 'active',
  EXHAUSTED = 'exhausted',
  EXPIRED = 'expired',
  DISABLED = 'disabled',
}

export enum PromoHoldStatus {
  RESERVED = 'reserved',
  REDEEMED = 'redeemed',
  RELEASED = 'released',
}

export enum PromoRefusal {
  UNKNOWN = 'unknown',
  EXPIRED = 'expired',
  EXHAUSTED = 'exhausted',
  NOT_APPLICABLE = 'not_applicable',
  MIN_SUBTOTAL = 'min_subtotal',
  ALREADY_USED = 'already_used',
  NOT_FIRST_PURCHASE = 'not_first_purchase',
}

export enum GiftKind {
  MEMBERSHIP = 'membership',
  CREDIT = 'credit',
}

export enum GiftStatus {
  PENDING_PAYMENT = 'pending_payment',
  PURCHASED = 'purchased',
  DELIVERED = 'delivered',
  REDEEMED = 'redeemed',
  EXPIRED = 'expired',
  REFUNDED = 'refunded',
}

export enum PortalFlow {
  HOME = 'home',
  PAYMENT_METHOD_UPDATE = 'payment_method_update',
  SUBSCRIPTION_CANCEL = 'subscription_cancel',
  INVOICE_HISTORY = 'invoice_history',
}

registerEnums(
  { PromoKind, PromoDuration, PromoStatus, PromoHoldStatus, PromoRefusal, GiftKind, GiftStatus, PortalFlow },
  {
    PromoRefusal: "UNKNOWN also: not started, disabled, or another brand's.",
  },
);
