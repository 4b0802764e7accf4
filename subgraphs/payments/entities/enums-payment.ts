import { registerEnums } from '../../../runtime/schema/enums.js';

export enum PaymentProcessor {
  SANDBOX = 'sandbox',
  STRIPE = 'stripe',
  PARTNER = 'partner',
}

export enum PaymentMethodType {
  CARD = 'card',
  US_BANK_ACCOUNT = 'us_bank_account',
  SEPA_DEBIT = 'sepa_debit',
  WALLET = 'wallet',
}

export enum PaymentMethodStatus {
  ACTIVE = 'active',
  REQUIRES_UPDATE = 'requires_update',
  EXPIRED = 'expired',
  DETACHED = 'detached',
}

export enum PaymentPurpose {
  ORDER = 'order',
  SUBSCRIPTION = 'subscription',
  INVOICE = 'invoice',
  GIFT = 'gift',
  TELEHEALTH = 'telehealth',
  OTHER = 'other',
}

export enum PaymentStatus {
  REQUIRES_PAYMENT_METHOD = 'requires_payment_method',
  REQUIRES_ACTION = 'requires_action',
  PROCESSING = 'processing',
  AUTHORIZED = 'authorized',
  SUCCEEDED = 'succeeded',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}

export enum PaymentAttemptStatus {
  PENDING = 'pending',
  UNKNOWN = 'unknown',
  REQUIRES_ACTION = 'requires_action',
  AUTHORIZED = 'authorized',
  SUCCEEDED = 'succeeded',
  FAILED = 'failed',
}

export enum DeclineCategory {
  SOFT = 'soft',
  HARD = 'hard',
  ACTION_REQUIRED = 'action_required',
  PROCESSOR_ERROR = 'processor_error',
}

export enum PaymentNextActionType {
  REDIRECT_TO_URL = 'redirect_to_url',
}

export enum CaptureMethod {
  AUTOMATIC = 'automatic',
  MANUAL = 'manual',
}

export enum RefundStatus {
  REQUIRES_APPROVAL = 'requires_approval',
  PENDING = 'pending',
  REQUIRES_ACTION = 'requires_action',
  SUCCEEDED = 'succeeded',
  FAILED = 'failed',
  CANCELLED = 'cancelled',
}

export enum RefundReason {
  REQUESTED_BY_CUSTOMER = 'requested_by_customer',
  DUPLICATE = 'duplicate',
  FRAUDULENT = 'fraudulent',
  PRODUCT_UNSATISFACTORY = 'product_unsatisfactory',
  ORDER_CANCELLED = 'order_cancelled',
  MEDICAL_INELIGIBLE = 'medical_ineligible',
  GOODWILL = 'goodwill',
  OTHER = 'other',
}

export enum RefundOrigin {
  API = 'api',
  STAFF = 'staff',
  EXTERNAL = 'external',
  DISPUTE_PREVENTION = 'dispute_prevention',
}

export enum CheckoutMode {
  PAYMENT = 'payment',
  SUBSCRIPTION = 'subscription',
  SETUP = 'setup',
}

/** What a session's saga has done, or is about to do. Source: payments 5.3. */
export enum CheckoutStep {
  NEW = 'new',
  RESERVED = 'reserved',
  CHARGING = 'charging',
  SETTLING = 'settling',
  UNDOING = 'undoing',
  DONE = 'done',
}

export enum BillingSessionStatus {
  OPEN = 'open',
  REQUIRES_ACTION = 'requires_action',
  PROCESSING = 'processing',
  COMPLETE = 'complete',
  EXPIRED = 'expired',
  CANCELLED = 'cancelled',
}

export enum BillingAction {
  UPDATE_PAYMENT_METHOD = 'update_payment_method',
  AUTHENTICATE_PAYMENT = 'authenticate_payment',
  PAY_INVOICE = 'pay_invoice',
}

registerEnums(
  {
    PaymentProcessor,
    PaymentMethodType,
    PaymentMethodStatus,
    PaymentPurpose,
    PaymentStatus,
    PaymentAttemptStatus,
    DeclineCategory,
    PaymentNextActionType,
    CaptureMethod,
    RefundStatus,
    RefundReason,
    RefundOrigin,
    CheckoutMode,
    BillingSessionStatus,
    BillingAction,
  },
  {
    PaymentProcessor: 'PARTNER: mirrored charges of the telehealth partner, no money moved by us.',
    PaymentAttemptStatus: 'UNKNOWN: the processor did not answer; it is asked again.',
    DeclineCategory: 'Decides whether a charge may be tried again.',
    CaptureMethod: 'MANUAL: authorized now, captured by a call of its own within seven days.',
    RefundOrigin: "EXTERNAL: made in the processor's own dashboard.",
  },
);
