import { DisputeReason } from '../../entities/enums-operations.js';
import { PaymentMethodType } from '../../entities/enums-payment.js';

/** How charges of a method end, and what follows. Source: payments 8, table of method tokens. */
export interface Behaviour {
  /** `declined` with `code`; `times`: only that many, then it succeeds. */
  readonly charge: 'succeeds' | 'declines' | 'authenticates' | 'async_succeeds' | 'async_fails' | 'silent_succeeds' | 'silent_fails';
  readonly code?: string;
  readonly times?: number;
  readonly refund?: 'fails' | 'pends';
  /** Opened after a second. */
  readonly dispute?: { readonly reason: DisputeReason; readonly isInquiry: boolean };
}

export interface SandboxMethod {
  readonly type: PaymentMethodType;
  readonly brand: string;
  readonly last4: string;
  readonly behaviour: Behaviour;
}

const visa = (behaviour: Behaviour, last4 = '4242'): SandboxMethod => ({ type: PaymentMethodType.CARD, brand: 'visa', last4, behaviour });
const declining = (code: string, last4: string): SandboxMethod => visa({ charge: 'declines', code }, last4);
const disputed = (reason: DisputeReason, isInquiry: boolean, last4: string): SandboxMethod =>
  visa({ charge: 'succeeds', dispute: { reason, isInquiry } }, last4);

/** The sandbox's methods by token; their last digits tell them apart on a page. */
export const METHODS: Readonly<Record<string, SandboxMethod>> = {
  pm_card_visa: visa({ charge: 'succeeds' }),
  pm_card_mastercard: { ...visa({ charge: 'succeeds' }, '4444'), brand: 'mastercard' },
  pm_card_amex: { ...visa({ charge: 'succeeds' }, '8431'), brand: 'amex' },
  pm_card_visa_chargeDeclined: declining('generic_decline', '0002'),
  pm_card_visa_chargeDeclinedInsufficientFunds: declining('insufficient_funds', '9995'),
  pm_card_visa_chargeDeclinedLostCard: declining('lost_card', '9987'),
  pm_card_visa_chargeDeclinedStolenCard: declining('stolen_card', '9979'),
  pm_card_chargeDeclinedExpiredCard: declining('expired_card', '0069'),
  pm_card_chargeDeclinedIncorrectCvc: declining('incorrect_cvc', '0127'),
  pm_card_chargeCustomerFail: declining('generic_decline', '0341'),
  pm_card_authenticationRequired: visa({ charge: 'authenticates' }, '3184'),
  pm_card_createDispute: disputed(DisputeReason.FRAUDULENT, false, '0259'),
  pm_card_createDisputeProductNotReceived: disputed(DisputeReason.PRODUCT_NOT_RECEIVED, false, '2685'),
  pm_card_createDisputeInquiry: disputed(DisputeReason.UNRECOGNIZED, true, '1976'),
  pm_card_refundFail: visa({ charge: 'succeeds', refund: 'fails' }, '3726'),
  pm_card_pendingRefund: visa({ charge: 'succeeds', refund: 'pends' }, '7726'),
  sbx_declines_2: visa({ charge: 'declines', code: 'generic_decline', times: 2 }, '0022'),
  sbx_async_success: visa({ charge: 'async_succeeds' }, '0031'),
  sbx_async_fail: visa({ charge: 'async_fails', code: 'generic_decline' }, '0032'),
  sbx_timeout_success: visa({ charge: 'silent_succeeds' }, '0041'),
  sbx_timeout_fail: visa({ charge: 'silent_fails', code: 'generic_decline' }, '0042'),
};

/** Bank accounts that payouts go to, by token. */
export const DESTINATIONS: Readonly<Record<string, { readonly summary: string; readonly isPaid: boolean }>> = {
  ba_ok: { summary: 'bank •6789', isPaid: true },
  ba_fail: { summary: 'bank •1116', isPaid: false },
};
