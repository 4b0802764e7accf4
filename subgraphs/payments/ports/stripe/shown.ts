import type Stripe from 'stripe';
import { DisputeReason, DisputeStatus, PayoutStatus } from '../../entities/enums-operations.js';
import { PaymentMethodType } from '../../entities/enums-payment.js';
import { CHARGE_CANCELLED } from '../../rules/decline.js';
import { fromStripe } from '../../rules/stripe-amount.js';
import type {
  BalanceTransaction,
  BalanceTransactionKind,
  ProcessorCharge,
  ProcessorDispute,
  ProcessorMethod,
  ProcessorNextAction,
  ProcessorPayout,
  ProcessorRefund,
  ProcessorResult,
} from '../processor.js';
import { codeOf, declinedAs } from './errors.js';

/** Metadata key under which our objects carry the key of the call that made them: Stripe finds none by its idempotency key. */
export const KEY = 'idempotency_key';

const dateOf = (seconds: number): Date => new Date(seconds * 1000);
const upper = (currency: string): string => currency.toUpperCase();
const idOf = (reference: string | { id: string } | null | undefined): string | null =>
  typeof reference === 'string' ? reference : (reference?.id ?? null);
const expanded = <T extends object>(reference: string | T | null | undefined): T | null =>
  typeof reference === 'object' && reference !== null ? reference : null;

/** Fee in the charge's currency; null where it is settled in another one, or not known yet. */
function feeOf(charge: Stripe.Charge | null): number | null {
  const transaction = expanded(charge?.balance_transaction);
  return transaction && transaction.currency === charge!.currency ? fromStripe(transaction.fee, upper(transaction.currency)) : null;
}

export function chargeOf(intent: Stripe.PaymentIntent): ProcessorCharge {
  const [currency, charge] = [upper(intent.currency), expanded(intent.latest_charge)];
  return {
    id: intent.id,
    key: intent.metadata[KEY] ?? null,
    amount: fromStripe(intent.amount, currency),
    currency,
    amountCaptured: charge?.captured ? fromStripe(charge.amount_captured, currency) : 0,
    amountRefunded: fromStripe(charge?.amount_refunded ?? 0, currency),
    fee: feeOf(charge),
    capturedAt: charge?.captured ? dateOf(charge.created) : null,
    createdAt: dateOf(intent.created),
  };
}

function nextActionOf({ next_action }: Stripe.PaymentIntent): ProcessorNextAction | null {
  const url = next_action?.redirect_to_url?.url;
  return url ? { type: 'redirect_to_url', url, expiresAt: null } : null;
}

/** What came of a payment intent. */
export function outcomeOf(intent: Stripe.PaymentIntent): ProcessorResult<ProcessorCharge> {
  const data = chargeOf(intent);
  switch (intent.status) {
    case 'succeeded':
      return { status: 'succeeded', data };
    case 'requires_capture':
      return { status: 'authorized', data };
    case 'processing':
      return { status: 'processing', data };
    case 'requires_action':
      return { status: 'requires_action', data, nextAction: nextActionOf(intent) };
    case 'canceled':
      return declinedAs(CHARGE_CANCELLED, data);
    default:
      return declinedAs(codeOf(intent.last_payment_error ?? { code: 'generic_decline' }), data);
  }
}

export function refundOf(refund: Stripe.Refund): ProcessorRefund {
  const currency = upper(refund.currency);
  return {
    id: refund.id,
    key: refund.metadata?.[KEY] ?? null,
    chargeId: idOf(refund.payment_intent) ?? idOf(refund.charge) ?? '',
    amount: fromStripe(refund.amount, currency),
    currency,
    createdAt: dateOf(refund.created),
  };
}

export function refundOutcome(refund: Stripe.Refund): ProcessorResult<ProcessorRefund> {
  const data = refundOf(refund);
  if (refund.status === 'succeeded') return { status: 'succeeded', data };
  if (refund.status === 'failed' || refund.status === 'canceled') return declinedAs(refund.failure_reason ?? 'refund_failed', data);
  return refund.status === 'requires_action' ? { status: 'requires_action', data, nextAction: null } : { status: 'processing', data };
}

const REASONS: Readonly<Record<string, DisputeReason>> = {
  fraudulent: DisputeReason.FRAUDULENT,
  duplicate: DisputeReason.DUPLICATE,
  product_not_received: DisputeReason.PRODUCT_NOT_RECEIVED,
  product_unacceptable: DisputeReason.PRODUCT_UNACCEPTABLE,
  subscription_canceled: DisputeReason.SUBSCRIPTION_CANCELLED,
  credit_not_processed: DisputeReason.CREDIT_NOT_PROCESSED,
  unrecognized: DisputeReason.UNRECOGNIZED,
};

/** An appeal goes on where the review stood. */
const STATUSES: Readonly<Record<string, DisputeStatus>> = {
  warning_needs_response: DisputeStatus.WARNING_NEEDS_RESPONSE,
  warning_under_review: DisputeStatus.WARNING_UNDER_REVIEW,
  warning_closed: DisputeStatus.WARNING_CLOSED,
  needs_response: DisputeStatus.NEEDS_RESPONSE,
  under_review: DisputeStatus.UNDER_REVIEW,
  appeal_needs_response: DisputeStatus.UNDER_REVIEW,
  appeal_under_review: DisputeStatus.UNDER_REVIEW,
  won: DisputeStatus.WON,
  lost: DisputeStatus.LOST,
  prevented: DisputeStatus.PREVENTED,
};

export function disputeOf(dispute: Stripe.Dispute): ProcessorDispute {
  const currency = upper(dispute.currency);
  const movements = dispute.balance_transactions;
  const fee = movements.filter(one => one.currency === dispute.currency).reduce((sum, one) => sum + one.fee, 0);
  return {
    id: dispute.id,
    chargeId: idOf(dispute.payment_intent) ?? idOf(dispute.charge) ?? '',
    amount: fromStripe(dispute.amount, currency),
    currency,
    fee: movements.length > 0 ? fromStripe(fee, currency) : null,
    status: STATUSES[dispute.status] ?? DisputeStatus.UNDER_REVIEW,
    reason: REASONS[dispute.reason] ?? DisputeReason.GENERAL,
    evidenceDueAt: dispute.evidence_details.due_by === null ? null : dateOf(dispute.evidence_details.due_by),
    fundsWithdrawn: movements.some(one => one.amount < 0),
    openedAt: dateOf(dispute.created),
  };
}

const PAYOUT_STATUSES: Readonly<Record<string, ProcessorPayout['status']>> = {
  pending: PayoutStatus.PENDING,
  in_transit: PayoutStatus.IN_TRANSIT,
  paid: PayoutStatus.PAID,
  failed: PayoutStatus.FAILED,
  canceled: PayoutStatus.CANCELLED,
};

export function payoutOf(payout: Stripe.Payout): ProcessorPayout {
  const currency = upper(payout.currency);
  return {
    id: payout.id,
    key: payout.metadata?.[KEY] ?? null,
    amount: fromStripe(payout.amount, currency),
    currency,
    status: PAYOUT_STATUSES[payout.status] ?? PayoutStatus.PENDING,
    arrivalDate: dateOf(payout.arrival_date).toISOString().slice(0, 10),
    createdAt: dateOf(payout.created),
  };
}

export function payoutOutcome(payout: Stripe.Payout): ProcessorResult<ProcessorPayout> {
  const data = payoutOf(payout);
  if (data.status === PayoutStatus.PAID) return { status: 'succeeded', data };
  if (data.status === PayoutStatus.FAILED || data.status === PayoutStatus.CANCELLED)
    return declinedAs(payout.failure_code ?? `payout_${data.status}`, data);
  return { status: 'processing', data };
}

const METHOD_TYPES: Readonly<Record<string, PaymentMethodType>> = {
  card: PaymentMethodType.CARD,
  us_bank_account: PaymentMethodType.US_BANK_ACCOUNT,
  sepa_debit: PaymentMethodType.SEPA_DEBIT,
};

function cardOf({ card }: Stripe.PaymentMethod): ProcessorMethod['card'] {
  if (!card) return null;
  const { brand, last4, exp_month: expMonth, exp_year: expYear, funding, country, wallet } = card;
  return { brand, last4, expMonth, expYear, funding, country, wallet: wallet?.type ?? null };
}

function addressOf({ billing_details: { address } }: Stripe.PaymentMethod): ProcessorMethod['billingAddress'] {
  if (!address || Object.values(address).every(part => part === null)) return null;
  const { line1, line2, city, state: region, postal_code: postalCode, country: countryCode } = address;
  return { line1, line2, city, region, postalCode, countryCode };
}

/** A method; one without a fingerprint is only the same as itself. */
export function methodOf(method: Stripe.PaymentMethod): ProcessorMethod {
  const bank = method.us_bank_account ?? method.sepa_debit ?? null;
  return {
    id: method.id,
    type: METHOD_TYPES[method.type] ?? PaymentMethodType.WALLET,
    fingerprint: method.card?.fingerprint ?? bank?.fingerprint ?? method.id,
    card: cardOf(method),
    bankLast4: bank?.last4 ?? null,
    billingAddress: addressOf(method),
  };
}

const KINDS: Readonly<Record<string, BalanceTransactionKind>> = {
  charge: 'charge',
  refund: 'refund',
  partial_capture_reversal: 'refund',
  refund_failure: 'refund_failure',
  dispute: 'dispute',
  dispute_reversal: 'dispute_reversal',
  payout: 'payout',
  payout_reversal: 'payout_failure',
};

/** Charge of a movement's source, which is expanded: a charge itself, a refund or a dispute. */
function chargeIdOf(source: Stripe.BalanceTransaction['source']): string | null {
  const known = expanded(source) as { payment_intent?: string | { id: string } | null } | null;
  return idOf(known?.payment_intent);
}

export function movementOf(one: Stripe.BalanceTransaction): BalanceTransaction {
  const [currency, kind] = [upper(one.currency), KINDS[one.reporting_category] ?? 'other'];
  const chargeId = chargeIdOf(one.source);
  return {
    id: one.id,
    kind,
    sourceId: kind === 'charge' ? chargeId : idOf(one.source),
    chargeId,
    amount: fromStripe(one.amount, currency),
    fee: fromStripe(one.fee, currency),
    currency,
    createdAt: dateOf(one.created),
  };
}
