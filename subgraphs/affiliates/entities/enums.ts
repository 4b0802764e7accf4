import { registerEnums } from '../../../runtime/schema/enums.js';

export { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';

export enum AffiliateStatus {
  APPLIED = 'applied',
  APPROVED = 'approved',
  SUSPENDED = 'suspended',
  REJECTED = 'rejected',
  CLOSED = 'closed',
}

export enum AffiliateAction {
  APPROVE = 'approve',
  REJECT = 'reject',
  SUSPEND = 'suspend',
  RESTORE = 'restore',
}

export enum AffiliateAttributionModel {
  LAST_CLICK = 'last_click',
  FIRST_CLICK = 'first_click',
}

export enum AffiliateAttributionBasis {
  CODE = 'code',
  LINK = 'link',
  BINDING = 'binding',
  MANUAL = 'manual',
}

export enum CommissionKind {
  PERCENT = 'percent',
  FLAT = 'flat',
}

export enum CommissionStatus {
  HELD = 'held',
  ACCRUED = 'accrued',
  POSTED = 'posted',
  PAID = 'paid',
  REVERSED = 'reversed',
}

export enum ReferralStage {
  VISITOR = 'visitor',
  LEAD = 'lead',
  CUSTOMER = 'customer',
}

export enum CommissionReversalCause {
  REFUND = 'refund',
  REFUND_FAILED = 'refund_failed',
  DISPUTE = 'dispute',
  FRAUD = 'fraud',
  STAFF = 'staff',
}

export enum WinBackClaimStatus {
  OFFERED = 'offered',
  SENT = 'sent',
  CONVERTED = 'converted',
  EXPIRED = 'expired',
}

export enum AffiliateFraudSignalKind {
  SAME_USER = 'same_user',
  SHARED_PAYMENT_METHOD = 'shared_payment_method',
}

export enum AffiliatePayoutStatus {
  REQUESTED = 'requested',
  IN_FLIGHT = 'in_flight',
  PAID = 'paid',
  FAILED = 'failed',
}

export enum AffiliateRunKind {
  POSTING = 'posting',
  PAYOUT = 'payout',
}

registerEnums(
  {
    AffiliateStatus,
    AffiliateAction,
    AffiliateAttributionModel,
    AffiliateAttributionBasis,
    CommissionKind,
    CommissionStatus,
    ReferralStage,
    CommissionReversalCause,
    WinBackClaimStatus,
    AffiliateFraudSignalKind,
    AffiliatePayoutStatus,
  },
  {
    AffiliateStatus: 'Of one who is SUSPENDED new commissions are held.',
    CommissionStatus: 'HELD until somebody has looked at it; ACCRUED while it may be refunded; POSTED: it is owed.',
    CommissionReversalCause: 'REFUND_FAILED gives back, so its amount is negative.',
  },
);
