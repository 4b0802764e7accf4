import type { Clock } from '../../../runtime/time/clock.js';
import type { DisputeReason, DisputeStatus, PayoutStatus } from '../entities/enums-operations.js';
import type { DeclineCategory, PaymentMethodType, PaymentProcessor } from '../entities/enums-payment.js';

/** Minor units by the exponents of ISO 4217, whatever the processor counts in. */
export interface ProcessorMoney {
  readonly amount: number;
  readonly currency: string;
}

/** What every call carries. The same key and input have one effect and one answer, however often they are sent. */
export interface ProcessorCall {
  /** Of a charge: the attempt's id; of a refund or payout: its id. */
  readonly idempotencyKey: string;
  /** The service's time, not the wall's. */
  readonly clock: Clock;
}

export interface ProcessorNextAction {
  readonly type: 'redirect_to_url';
  readonly url: string;
  readonly expiresAt: Date | null;
}

export interface ProcessorDecline {
  /** In our words, of the table in `rules/decline.ts`; `resource_missing` where a lookup finds nothing. */
  readonly code: string;
  readonly category: DeclineCategory;
}

/**
 * What came of a call. `succeeded`: it is done, or was read. `declined`: it is not done and will not be; `data` is the object where there
 * is one. `unknown`: no answer that says so; `wasAsked` false means that the call certainly did not arrive, so nothing was done.
 * No other outcome exists, and none is thrown. Source: section 8.
 */
export type ProcessorResult<Data> =
  | { readonly status: 'succeeded' | 'authorized' | 'processing'; readonly data: Data }
  | { readonly status: 'requires_action'; readonly data: Data; readonly nextAction: ProcessorNextAction | null }
  | { readonly status: 'declined'; readonly decline: ProcessorDecline; readonly data: Data | null }
  | { readonly status: 'unknown'; readonly wasAsked: boolean };

export interface ProcessorCharge {
  /** The processor's id. */
  readonly id: string;
  /** Idempotency key of the call that made it: the attempt's id; null where it is not ours. */
  readonly key: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly amountCaptured: number;
  /** By refunds that are not failed. */
  readonly amountRefunded: number;
  /** What the processor keeps; null while it does not say. */
  readonly fee: number | null;
  readonly capturedAt: Date | null;
  readonly createdAt: Date;
}

export interface ProcessorRefund {
  readonly id: string;
  /** Idempotency key of the call that made it: the refund's id; null where it was made in the processor's own dashboard. */
  readonly key: string | null;
  readonly chargeId: string;
  readonly amount: number;
  readonly currency: string;
  readonly createdAt: Date;
}

export interface ProcessorDispute {
  readonly id: string;
  readonly chargeId: string;
  readonly amount: number;
  readonly currency: string;
  readonly fee: number | null;
  readonly status: DisputeStatus;
  readonly reason: DisputeReason;
  readonly evidenceDueAt: Date | null;
  readonly fundsWithdrawn: boolean;
  readonly openedAt: Date;
}

export interface ProcessorPayout {
  readonly id: string;
  readonly key: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly status: PayoutStatus.PENDING | PayoutStatus.IN_TRANSIT | PayoutStatus.PAID | PayoutStatus.FAILED | PayoutStatus.CANCELLED;
  /** Civil date, `YYYY-MM-DD`. */
  readonly arrivalDate: string | null;
  readonly createdAt: Date;
}

export interface ProcessorMethod {
  /** Token by which it is charged: to be sealed, never shown. */
  readonly id: string;
  readonly type: PaymentMethodType;
  /** Same for the same card or account; to be stored as keyed hash only. */
  readonly fingerprint: string;
  readonly card: {
    readonly brand: string;
    readonly last4: string;
    readonly expMonth: number;
    readonly expYear: number;
    readonly funding: string | null;
    readonly country: string | null;
    readonly wallet: string | null;
  } | null;
  readonly bankLast4: string | null;
  readonly billingAddress: {
    readonly line1: string | null;
    readonly line2: string | null;
    readonly city: string | null;
    readonly region: string | null;
    readonly postalCode: string | null;
    readonly countryCode: string | null;
  } | null;
}

export interface ChargeInput extends ProcessorMoney {
  readonly customerId: string;
  /** {@link ProcessorMethod.id} */
  readonly methodId: string;
  readonly capture: 'automatic' | 'manual';
  /** The customer is absent: what would need them is a decline `authentication_required`. */
  readonly offSession: boolean;
  readonly statementDescriptor: string;
  /** Where the customer comes back to after authenticating. */
  readonly returnUrl: string | null;
  /** Page of ours where the sandbox's customer authenticates; Stripe has one of its own. */
  readonly authenticationUrl: string | null;
  /** Ids only. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** By the processor's id, or by the key of the call that made it, for which Stripe needs customer and time. */
export type ChargeReference = { readonly id: string } | { readonly key: string; readonly customerId: string; readonly since: Date };

export interface HostedCheckoutInput extends ProcessorMoney {
  readonly customerId: string;
  /** Page of ours; what the sandbox answers, which has none of its own. */
  readonly pageUrl: string;
  readonly returnUrl: string;
  readonly cancelUrl: string | null;
  readonly mode: 'payment' | 'setup';
  readonly metadata: Readonly<Record<string, string>>;
}

export interface HostedPage {
  readonly id: string;
  readonly url: string;
  readonly expiresAt: Date | null;
}

export type BalanceTransactionKind =
  'charge' | 'refund' | 'refund_failure' | 'dispute' | 'dispute_reversal' | 'payout' | 'payout_failure' | 'other';

/** A movement of the processor's balance. `amount` is signed, before the fee. */
export interface BalanceTransaction extends ProcessorMoney {
  readonly id: string;
  readonly kind: BalanceTransactionKind;
  /** Charge, refund, dispute or payout. */
  readonly sourceId: string | null;
  readonly chargeId: string | null;
  readonly fee: number;
  readonly createdAt: Date;
}

export interface BalancePage {
  readonly items: readonly BalanceTransaction[];
  readonly nextCursor: string | null;
}

export type ProcessorObject = 'charge' | 'refund' | 'dispute' | 'payout';

/** A verified call of the processor: only a hint that `object` is to be read again. Null `object`: of a kind that does not concern us. */
export interface ProcessorNotice {
  readonly id: string;
  readonly type: string;
  readonly object: { readonly kind: ProcessorObject; readonly id: string } | null;
  readonly createdAt: Date;
}

/** `signature`: missing, wrong or too old (401); `malformed`: signed, but not to be read (400). */
export type NoticeRefusal = 'signature' | 'malformed';

/** Value of a header of the call, or null. */
export type HeaderReader = (name: string) => string | null;

/**
 * An exchangeable payment processor. Calls are made outside transactions; their amounts are in minor units of ISO 4217.
 * Source: section 8.
 */
export interface Processor {
  readonly name: PaymentProcessor;
  ensureCustomer(
    input: { userId: string; brandId: string; email: string | null },
    call: ProcessorCall,
  ): Promise<ProcessorResult<{ id: string }>>;
  deleteCustomer(input: { customerId: string }, call: ProcessorCall): Promise<ProcessorResult<{ id: string }>>;
  attachMethod(input: { customerId: string; token: string }, call: ProcessorCall): Promise<ProcessorResult<ProcessorMethod>>;
  detachMethod(input: { customerId: string; methodId: string }, call: ProcessorCall): Promise<ProcessorResult<{ id: string }>>;
  listMethods(input: { customerId: string }, call: ProcessorCall): Promise<ProcessorResult<readonly ProcessorMethod[]>>;
  /** `succeeded` (captured), `authorized` (manual capture), `processing`, `requires_action` or `declined`. */
  charge(input: ChargeInput, call: ProcessorCall): Promise<ProcessorResult<ProcessorCharge>>;
  /** At most the authorized amount; the rest is released. */
  capture(input: { chargeId: string } & ProcessorMoney, call: ProcessorCall): Promise<ProcessorResult<ProcessorCharge>>;
  /** `succeeded`: nothing will be captured any more; `declined`: it was captured before. */
  cancel(input: { chargeId: string }, call: ProcessorCall): Promise<ProcessorResult<ProcessorCharge>>;
  /** As {@link charge} answers; `declined` with `charge_cancelled` or, where there is none, `resource_missing`. */
  retrieveCharge(reference: ChargeReference, call: ProcessorCall): Promise<ProcessorResult<ProcessorCharge>>;
  /** `succeeded`, `processing` (pending), `requires_action` or `declined` (failed). */
  refund(input: { chargeId: string } & ProcessorMoney, call: ProcessorCall): Promise<ProcessorResult<ProcessorRefund>>;
  retrieveRefund(
    reference: { id: string } | { key: string; chargeId: string },
    call: ProcessorCall,
  ): Promise<ProcessorResult<ProcessorRefund>>;
  /** What a token of a bank account leads to, without making anything. `declined`: no such token. */
  describeDestination(input: { token: string }, call: ProcessorCall): Promise<ProcessorResult<{ summary: string }>>;
  /** `succeeded` (paid), `processing` (pending, in transit) or `declined` (failed, cancelled). */
  createPayout(
    input: { destination: string; reference: string } & ProcessorMoney,
    call: ProcessorCall,
  ): Promise<ProcessorResult<ProcessorPayout>>;
  retrievePayout(reference: { id: string } | { key: string; since: Date }, call: ProcessorCall): Promise<ProcessorResult<ProcessorPayout>>;
  /** `succeeded`: it will not be paid; `declined`: too late. */
  cancelPayout(input: { payoutId: string }, call: ProcessorCall): Promise<ProcessorResult<ProcessorPayout>>;
  submitEvidence(
    input: { disputeId: string; evidence: Readonly<Record<string, string>> },
    call: ProcessorCall,
  ): Promise<ProcessorResult<ProcessorDispute>>;
  acceptDispute(input: { disputeId: string }, call: ProcessorCall): Promise<ProcessorResult<ProcessorDispute>>;
  /** `succeeded` in whatever state the dispute is; `declined`: there is none. */
  retrieveDispute(reference: { id: string }, call: ProcessorCall): Promise<ProcessorResult<ProcessorDispute>>;
  createHostedCheckout(input: HostedCheckoutInput, call: ProcessorCall): Promise<ProcessorResult<HostedPage>>;
  createPortal(
    input: { customerId: string; pageUrl: string; returnUrl: string },
    call: ProcessorCall,
  ): Promise<ProcessorResult<HostedPage>>;
  /** Movements with `from <= createdAt < to`, 100 a page, in the processor's order. */
  listBalanceTransactions(
    input: { from: Date; to: Date; cursor: string | null },
    call: ProcessorCall,
  ): Promise<ProcessorResult<BalancePage>>;
  /** Judges a call by its raw bytes; `secrets`: two while one is replaced. */
  verifyWebhook(rawBody: Buffer, header: HeaderReader, secrets: readonly string[], now: Date): ProcessorNotice | NoticeRefusal;
  /** What a body says that was verified before; null where it cannot be read. */
  parseNotice(rawBody: Buffer): ProcessorNotice | null;
}
