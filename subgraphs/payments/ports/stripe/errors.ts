import type Stripe from 'stripe';
import { declineCategory, RESOURCE_MISSING } from '../../rules/decline.js';
import type { ProcessorResult } from '../processor.js';
import { stripePackage } from './package.js';

/** Errors of the connection after which Stripe has certainly not been asked. */
const NOT_ASKED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED']);
const NAMES = new Set(['BlockedAddress', 'DnsFailure']);

/** Codes of Stripe that say what others of its codes say. */
const SYNONYMS: Readonly<Record<string, string>> = {
  payment_intent_unexpected_state: 'charge_not_capturable',
  charge_already_refunded: 'amount_too_large',
  refund_amount_too_large: 'amount_too_large',
  charge_disputed: 'charge_disputed',
};

export const declinedAs = <Data>(code: string, data: Data | null = null): ProcessorResult<Data> => ({
  status: 'declined',
  decline: { code, category: declineCategory(code) },
  data,
});

const unknown = (wasAsked: boolean): { status: 'unknown'; wasAsked: boolean } => ({ status: 'unknown', wasAsked });

/** The error that the package wrapped, which names what happened to the connection. */
function wasAsked(error: Stripe.errors.StripeError): boolean {
  const cause = (error as { detail?: unknown }).detail as { code?: string; name?: string } | undefined;
  return !NOT_ASKED.has(cause?.code ?? '') && !NAMES.has(cause?.name ?? '');
}

/** Code of a refusal in our words. */
export const codeOf = (error: { decline_code?: string | null; code?: string | null }): string => {
  const code = error.decline_code ?? error.code ?? 'processor_error';
  return SYNONYMS[code] ?? code;
};

/** The outcome that a thrown error of the package means. */
export function failed(error: unknown): ProcessorResult<never> {
  const { errors } = stripePackage();
  if (error instanceof errors.StripeCardError) return declinedAs(codeOf({ decline_code: error.decline_code, code: error.code }));
  if (error instanceof errors.StripeRateLimitError) return unknown(false);
  if (error instanceof errors.StripeAuthenticationError || error instanceof errors.StripePermissionError) return unknown(false);
  if (error instanceof errors.StripeIdempotencyError) return declinedAs('processor_error');
  if (error instanceof errors.StripeInvalidRequestError) {
    if (error.statusCode === 409 || error.code === 'idempotency_key_in_use') return unknown(true);
    return declinedAs(error.statusCode === 404 ? RESOURCE_MISSING : codeOf({ code: error.code }));
  }
  if (error instanceof errors.StripeConnectionError) return unknown(wasAsked(error));
  return unknown(true);
}
