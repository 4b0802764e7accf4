import { paymentCharged, paymentFailed, paymentPaid } from '../../../events/catalogue/payments.js';
import { findRow, lockRow } from '../../../runtime/data/rows.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { DisputeReason, DisputeStatus } from '../entities/enums-operations.js';
import { DeclineCategory, PaymentProcessor, PaymentPurpose, PaymentStatus as Status } from '../entities/enums-payment.js';
import type { TelehealthSyncResult } from '../entities/operations.js';
import { Payment } from '../entities/payment.js';
import type { SyncTelehealthChargeInput } from '../inputs/operations.js';
import { PAYMENT_STATES, type PaymentTrigger } from '../rules/payment-states.js';
import { isStale, type PartnerState } from '../rules/telehealth.js';
import { applyDispute } from './dispute.js';
import { mirrorRefund } from './refund-notice.js';

/** What the partner says of a charge of its own; amounts in minor units. */
export interface PartnerCharge {
  readonly partnerChargeId: string;
  readonly userId: string;
  readonly state: PartnerState;
  /** Of the charge. */
  readonly amount: number;
  /** All that has gone back so far. */
  readonly refunded: number;
  readonly currency: string;
  readonly occurredAt: Date;
  readonly failureCode: string | null;
  readonly disputeReason: string | null;
  readonly consultId: string | null;
}

/** Names no treatment. Source: payments 2. */
const DESCRIPTOR = 'TELEHEALTH';

export interface Mirrored {
  payment: Payment;
  applied: boolean;
}

/** What is known of a mirrored charge, in the partner's words. */
function knownOf(payment: Payment): { state: PartnerState; at: Date } | null {
  const { partner_state: state } = payment.metadata as { partner_state?: PartnerState };
  return state && payment.mirroredAt ? { state, at: payment.mirroredAt } : null;
}

async function lockMirror(ctx: Context, partnerChargeId: string): Promise<Payment | null> {
  const known = await findRow(ctx, Payment, { processor: PaymentProcessor.PARTNER, externalRef: partnerChargeId });
  return known && lockRow(ctx, Payment, { id: known.id });
}

/** A charge that the partner begins: a payment on its way, for which nothing is asked of any processor. */
function begin(ctx: Context, charge: PartnerCharge): Payment {
  const payment = Object.assign(new Payment(), {
    id: newId(),
    userId: charge.userId,
    purpose: PaymentPurpose.TELEHEALTH,
    status: Status.PROCESSING,
    amountMinor: charge.amount,
    currency: charge.currency,
    processor: PaymentProcessor.PARTNER,
    processorRef: charge.partnerChargeId,
    externalRef: charge.partnerChargeId,
    statementDescriptor: DESCRIPTOR,
    attemptCount: 1,
    createdAt: ctx.now(),
    metadata: charge.consultId === null ? {} : { consult_id: charge.consultId },
  });
  ctx.em.persist(payment);
  return payment;
}

function moved(payment: Payment, trigger: PaymentTrigger): void {
  payment.status = move(PAYMENT_STATES, 'payment', payment.status, trigger);
  payment.version += 1;
}

/** An attempt after a failure is a new one. */
function tryAgain(payment: Payment): void {
  if (payment.status !== Status.REQUIRES_PAYMENT_METHOD) return;
  moved(payment, 'confirm');
  payment.attemptCount += 1;
}

function authorized(payment: Payment): void {
  tryAgain(payment);
  if (payment.status === Status.PROCESSING) moved(payment, 'authorize');
}

const IS_FINAL: readonly Status[] = [Status.SUCCEEDED, Status.FAILED, Status.CANCELLED];

/** Charged and paid at once: a mirrored charge is its own obligation. */
async function captured(ctx: Context, payment: Payment, amount: number): Promise<void> {
  if (IS_FINAL.includes(payment.status)) return;
  tryAgain(payment);
  moved(payment, payment.status === Status.AUTHORIZED ? 'capture' : 'succeed');
  Object.assign(payment, { amountMinor: Math.max(amount, payment.amountMinor), amountCapturedMinor: amount, capturedAt: ctx.now() });
  const about = { userId: payment.userId };
  const links = { invoice_id: null, order_id: null, subscription_id: null };
  const money = { currency: payment.currency, purpose: payment.purpose };
  const charged = {
    payment_id: payment.id,
    amount,
    fee_amount: null,
    processor: payment.processor,
    captured_at: payment.capturedAt!.toISOString(),
  };
  ctx.emit(paymentCharged, { ...charged, ...money, ...links }, about);
  ctx.emit(paymentPaid, { ...(await paidOf(ctx, payment, amount)), ...money, ...links }, about);
}

const EARLIER = `select exists (select from payments.payment where user_id = $1 and status = 'succeeded' and id <> $2) as earlier`;

async function paidOf(ctx: Context, payment: Payment, amount: number) {
  await ctx.em.flush();
  const [row] = await ctx.sql<{ earlier: boolean }>(EARLIER, [payment.userId, payment.id]);
  return {
    obligation_type: 'checkout' as const,
    obligation_id: payment.id,
    payment_id: payment.id,
    subtotal_amount: amount,
    discount_amount: 0,
    tax_amount: 0,
    shipping_amount: 0,
    cash_amount: 0,
    credit_amount: 0,
    total_amount: amount,
    promo_code: null,
    affiliate_code: null,
    first_purchase: !row!.earlier,
    tax_region: null,
  };
}

function failed(ctx: Context, payment: Payment, code: string | null): void {
  if (payment.status === Status.AUTHORIZED) return moved(payment, 'cancel');
  if (payment.status !== Status.PROCESSING) return;
  moved(payment, 'decline');
  const data = { payment_id: payment.id, attempt: payment.attemptCount, amount: payment.amountMinor, currency: payment.currency };
  const why = { category: DeclineCategory.SOFT, decline_code: code, retryable: true, next_attempt_at: null };
  ctx.emit(paymentFailed, { ...data, ...why, invoice_id: null, order_id: null, subscription_id: null }, { userId: payment.userId });
}

const REASONS: readonly string[] = Object.values(DisputeReason);
const reasonOf = (word: string | null): DisputeReason =>
  word !== null && REASONS.includes(word) ? (word as DisputeReason) : DisputeReason.GENERAL;

async function disputed(ctx: Context, payment: Payment, charge: PartnerCharge): Promise<void> {
  await captured(ctx, payment, charge.amount);
  await ctx.em.flush();
  await applyDispute(ctx, PaymentProcessor.PARTNER, {
    id: charge.partnerChargeId,
    chargeId: charge.partnerChargeId,
    amount: charge.amount,
    currency: charge.currency,
    fee: null,
    status: DisputeStatus.NEEDS_RESPONSE,
    reason: reasonOf(charge.disputeReason),
    evidenceDueAt: null,
    fundsWithdrawn: true,
    openedAt: charge.occurredAt,
  });
}

/** Brings the mirror to where the partner says that its charge is. */
async function apply(ctx: Context, payment: Payment, charge: PartnerCharge): Promise<void> {
  switch (charge.state) {
    case 'authorized':
      return authorized(payment);
    case 'captured':
      return captured(ctx, payment, charge.amount);
    case 'failed':
      return failed(ctx, payment, charge.failureCode);
    case 'refunded':
      await captured(ctx, payment, charge.amount);
      return mirrorRefund(ctx, payment, charge.refunded);
    case 'disputed':
      return disputed(ctx, payment, charge);
  }
}

/**
 * Mirrors a charge of the telehealth partner: no money is moved by us, and a report that is older or tells less changes nothing. Reports
 * of one charge wait for each other. Source: payments 4.4, 5.2.
 */
export async function mirrorCharge(ctx: Context, charge: PartnerCharge): Promise<Mirrored> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 31))', [`partner_charge:${charge.partnerChargeId}`]);
  const known = await lockMirror(ctx, charge.partnerChargeId);
  if (known && known.userId !== charge.userId) invalid('/input/user_id', 'is not the user of this charge');
  if (known && known.currency !== charge.currency) invalid('/input/amount/currency', 'is not the currency of this charge');
  const report = { state: charge.state, at: charge.occurredAt };
  if (known && isStale(knownOf(known), report)) return { payment: known, applied: false };
  const payment = known ?? begin(ctx, charge);
  await apply(ctx, payment, charge);
  payment.metadata = { ...(payment.metadata as object), partner_state: charge.state };
  payment.mirroredAt = charge.occurredAt;
  ctx.audit('payment.mirrored', payment.id, { state: charge.state, amount: charge.amount, currency: charge.currency });
  return { payment, applied: true };
}

/** What a caller says of a charge, in the place of the partner's event. @throws Problem invalid_request. */
export async function syncCharge(ctx: Context, input: SyncTelehealthChargeInput): Promise<TelehealthSyncResult> {
  const { amount, currency } = input.amount;
  if (amount < 1) invalid('/input/amount/amount', 'must be at least 1');
  const { payment, applied } = await mirrorCharge(ctx, {
    partnerChargeId: input.partnerChargeId,
    userId: input.userId.toLowerCase(),
    state: input.status,
    amount,
    refunded: amount,
    currency,
    occurredAt: input.occurredAt,
    failureCode: null,
    disputeReason: null,
    consultId: input.consultId?.toLowerCase() ?? null,
  });
  return { payment, applied, reason: applied ? null : 'stale' };
}
