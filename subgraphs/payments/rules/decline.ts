import { DeclineCategory } from '../entities/enums-payment.js';

const { SOFT, HARD, ACTION_REQUIRED, PROCESSOR_ERROR } = DeclineCategory;

/** The processor knows no object of that id or key: the call never arrived there. */
export const RESOURCE_MISSING = 'resource_missing';
/** The charge was cancelled at the processor before it was captured. */
export const CHARGE_CANCELLED = 'charge_cancelled';
export const AUTHENTICATION_REQUIRED = 'authentication_required';

/**
 * What an issuer's or processor's code means for the next attempt. Codes that the card networks forbid to retry are HARD.
 * Source: payments 3.5; https://docs.stripe.com/declines/codes for the names.
 */
const CATEGORIES: Readonly<Record<string, DeclineCategory>> = {
  insufficient_funds: SOFT,
  generic_decline: SOFT,
  card_declined: SOFT,
  do_not_honor: SOFT,
  try_again_later: SOFT,
  issuer_not_available: SOFT,
  incorrect_cvc: SOFT,
  invalid_cvc: SOFT,
  card_velocity_exceeded: SOFT,
  withdrawal_count_limit_exceeded: SOFT,
  processing_error: SOFT,
  lost_card: HARD,
  stolen_card: HARD,
  pickup_card: HARD,
  fraudulent: HARD,
  merchant_blacklist: HARD,
  restricted_card: HARD,
  expired_card: HARD,
  invalid_account: HARD,
  account_closed: HARD,
  no_account: HARD,
  debit_not_authorized: HARD,
  revocation_of_authorization: HARD,
  revocation_of_all_authorizations: HARD,
  stop_payment_order: HARD,
  authentication_required: ACTION_REQUIRED,
  authentication_not_handled: ACTION_REQUIRED,
  payment_intent_authentication_failure: ACTION_REQUIRED,
  resource_missing: PROCESSOR_ERROR,
  charge_cancelled: PROCESSOR_ERROR,
  processor_error: PROCESSOR_ERROR,
  rate_limit: PROCESSOR_ERROR,
  api_error: PROCESSOR_ERROR,
};

/** Category of a decline code. A code that is in no table is SOFT: it follows the schedule, within the networks' ceiling. */
export const declineCategory = (code: string): DeclineCategory => CATEGORIES[code] ?? SOFT;

/** Whether the same method may be tried again, now or by the schedule. */
export const isRetryable = (category: DeclineCategory): boolean => category === SOFT || category === PROCESSOR_ERROR;
