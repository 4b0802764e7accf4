import { registerEnums } from '../../../runtime/schema/enums.js';

export enum DisputeStatus {
  WARNING_NEEDS_RESPONSE = 'warning_needs_response',
  WARNING_UNDER_REVIEW = 'warning_under_review',
  WARNING_CLOSED = 'warning_closed',
  NEEDS_RESPONSE = 'needs_response',
  UNDER_REVIEW = 'under_review',
  WON = 'won',
  LOST = 'lost',
  PREVENTED = 'prevented',
}

export enum DisputeReason {
  FRAUDULENT = 'fraudulent',
  DUPLICATE = 'duplicate',
  PRODUCT_NOT_RECEIVED = 'product_not_received',
  PRODUCT_UNACCEPTABLE = 'product_unacceptable',
  SUBSCRIPTION_CANCELLED = 'subscription_cancelled',
  CREDIT_NOT_PROCESSED = 'credit_not_processed',
  UNRECOGNIZED = 'unrecognized',
  GENERAL = 'general',
}

export enum PayoutStatus {
  REQUIRES_APPROVAL = 'requires_approval',
  PENDING = 'pending',
  IN_TRANSIT = 'in_transit',
  PAID = 'paid',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}

export enum PayoutKind {
  SETTLEMENT = 'settlement',
  DISBURSEMENT = 'disbursement',
}

export enum ProcessorEventStatus {
  RECEIVED = 'received',
  PROCESSED = 'processed',
  IGNORED = 'ignored',
  FAILED = 'failed',
  DEAD = 'dead',
}

export enum ReconciliationStatus {
  RUNNING = 'running',
  COMPLETED = 'completed',
  FAILED = 'failed',
}

export enum ReconciliationDiscrepancyKind {
  MISSING_IN_PAYMENTS = 'missing_in_payments',
  MISSING_AT_PROCESSOR = 'missing_at_processor',
  MISSING_IN_STOREFRONT = 'missing_in_storefront',
  AMOUNT_MISMATCH = 'amount_mismatch',
  CURRENCY_MISMATCH = 'currency_mismatch',
  STATUS_MISMATCH = 'status_mismatch',
  DUPLICATE_CHARGE = 'duplicate_charge',
  UNLEDGERED = 'unledgered',
}

export enum PartnerChargeStatus {
  AUTHORIZED = 'authorized',
  CAPTURED = 'captured',
  FAILED = 'failed',
  REFUNDED = 'refunded',
  DISPUTED = 'disputed',
}

export enum FailureGroup {
  DECLINE_CODE = 'decline_code',
  PROCESSOR = 'processor',
  CARD_BRAND = 'card_brand',
}

export enum SandboxAction {
  COMPLETE_3DS = 'complete_3ds',
  FAIL_3DS = 'fail_3ds',
  OPEN_DISPUTE = 'open_dispute',
  WIN_DISPUTE = 'win_dispute',
  LOSE_DISPUTE = 'lose_dispute',
  SETTLE_REFUND = 'settle_refund',
  EXTERNAL_REFUND = 'external_refund',
  HOLD_WEBHOOKS = 'hold_webhooks',
  RELEASE_WEBHOOKS = 'release_webhooks',
  REDELIVER_LAST = 'redeliver_last',
  DELIVER_REVERSED = 'deliver_reversed',
  PAYOUT_FAIL = 'payout_fail',
}

registerEnums({
  DisputeStatus,
  DisputeReason,
  PayoutStatus,
  PayoutKind,
  ProcessorEventStatus,
  ReconciliationStatus,
  ReconciliationDiscrepancyKind,
  PartnerChargeStatus,
  FailureGroup,
  SandboxAction,
});
