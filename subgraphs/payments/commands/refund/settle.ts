import { paymentRefunded } from '../../../../events/catalogue/payments.js';
import { lockRow, requireRow } from '../../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../../runtime/request/context.js';
import { move } from '../../../../runtime/request/states.js';
import { after } from '../../../../runtime/time/durations.js';
import { BillingCustomer } from '../../entities/customer.js';
import { RefundStatus as Status } from '../../entities/enums-payment.js';
import { Payment } from '../../entities/payment.js';
import { Refund } from '../../entities/refund.js';
import { grantRefund } from '../../ports/cash.js';
import type { ProcessorRefund, ProcessorResult } from '../../ports/processor.js';
import { processorOf } from '../../ports/processors.js';
import { obligationFacts, obligationOfSession, type ObligationFacts } from '../../queries/obligation-facts.js';
import { nextLook } from '../../rules/payment-states.js';
import { BOUNCE_MS, REFUND_STATES, type RefundTrigger } from '../../rules/refund.js';
import { invoiceRefunded } from '../credit-note.js';
import { giftRefunded } from '../gift-settlement.js';
import { releaseRefunded } from '../promo.js';
import { unreserve } from './create.js';
import { groundOfPayment, groundOfSession, type Ground } from './ground.js';

export type RefundResult = ProcessorResult<Pick<ProcessorRefund, 'id'> | null>;

/** Asks for a refund that is PENDING, outside transactions; its id is the key, so that a repeat has one effect. */
export async function callRefund(host: ServiceHost, id: string): Promise<RefundResult> {
  const refund = await host.read(ctx => requireRow(ctx, Refund, { id }));
  const { amountMinor: amount, currency, userId, paymentId } = refund;
  if (amount === 0 || paymentId === null) return { status: 'succeeded', data: null };
  if (refund.toCash) return (await grantRefund(host, { id, userId, amount, currency }), { status: 'succeeded', data: null });
  const { processorRef } = await host.read(ctx => requireRow(ctx, Payment, { id: paymentId }));
  const call = { idempotencyKey: id, clock: await host.read(async ctx => ctx.clock) };
  return processorOf(host).refund({ chargeId: processorRef!, amount, currency }, call);
}

/** The rows of a refund, locked in their order; what it is of may have ended meanwhile. */
async function lockGround(ctx: Context, { paymentId, checkoutSessionId }: Refund): Promise<Ground> {
  return paymentId !== null ? groundOfPayment(ctx, paymentId) : groundOfSession(ctx, checkoutSessionId!);
}

const TRIGGERS: Readonly<Record<'succeeded' | 'authorized' | 'requires_action' | 'declined', RefundTrigger>> = {
  succeeded: 'succeed',
  authorized: 'succeed',
  requires_action: 'require_action',
  declined: 'fail',
};

/**
 * Applies what the processor says of a refund, whoever comes first; again, or backwards: nothing. Locks are taken here.
 * A settled one that fails within 30 days has bounced.
 */
export async function applyRefund(ctx: Context, id: string, result: RefundResult): Promise<Refund> {
  const ground = await lockGround(ctx, await requireRow(ctx, Refund, { id }));
  const refund = await lockRow(ctx, Refund, { id });
  if (result.status !== 'unknown' && result.data) refund.processorRef = result.data.id;
  if (result.status === 'unknown' || result.status === 'processing') wait(ctx, refund, result.status === 'processing');
  else if (refund.status === Status.SUCCEEDED && result.status === 'declined') await bounce(ctx, refund, ground, result.decline.code);
  else if (isOpen(refund.status)) await advance(ctx, refund, ground, result);
  return refund;
}

const isOpen = (status: Status): boolean => status === Status.PENDING || status === Status.REQUIRES_ACTION;

function wait(ctx: Context, refund: Refund, isKnown: boolean): void {
  if (!isOpen(refund.status)) return;
  const looks = isKnown ? Math.max(refund.looks, 3) : refund.looks; // what the processor has, it tells about: hourly looks will do
  refund.nextLookAt = nextLook(refund.createdAt, looks, ctx.now());
}

type Decided = Exclude<RefundResult, { status: 'unknown' | 'processing' }>;

async function advance(ctx: Context, refund: Refund, ground: Ground, result: Decided): Promise<void> {
  const trigger = TRIGGERS[result.status as keyof typeof TRIGGERS];
  if (trigger === 'require_action' && refund.status === Status.REQUIRES_ACTION) return;
  refund.status = move(REFUND_STATES, 'refund', refund.status, trigger);
  refund.version += 1;
  if (trigger === 'succeed') return succeed(ctx, refund, ground);
  refund.nextLookAt = null;
  if (trigger !== 'fail') return;
  const failureCode = result.status === 'declined' ? result.decline.code : null;
  Object.assign(refund, { failureCode, settledAt: ctx.now() });
  unreserve(ground, refund);
  ctx.audit('refund.failed', refund.id, { code: failureCode });
}

/** Customer credit that settled a part goes back to the balance; where a bounce takes it again, as far as it is there. */
async function returnCredit(ctx: Context, { payment, session, invoice }: Ground, amount: number): Promise<void> {
  const customerId = payment?.customerId ?? session?.customerId ?? invoice?.customerId;
  if (amount === 0 || customerId == null) return;
  const customer = await lockRow(ctx, BillingCustomer, { id: customerId });
  customer.creditBalanceMinor = Math.max(0, customer.creditBalanceMinor + amount);
}

async function succeed(ctx: Context, refund: Refund, ground: Ground): Promise<void> {
  const { payment } = ground;
  if (payment) {
    payment.amountReservedMinor -= refund.amountMinor;
    payment.amountRefundedMinor += refund.amountMinor;
    payment.version += 1;
  }
  Object.assign(refund, { settledAt: ctx.now(), nextLookAt: null, failureCode: null });
  await returnCredit(ctx, ground, refund.creditReturnedMinor);
  await invoiceRefunded(ctx, refund, false);
  const facts = await told(ctx, refund, ground, 'succeeded');
  if (facts.obligation_amount !== null && facts.obligation_refunded! >= facts.obligation_amount) await fullyRefunded(ctx, ground);
  ctx.audit('refund.succeeded', refund.id, { amount: refund.amountMinor, currency: refund.currency });
}

/** Nothing of the obligation is kept: its promo may be used again, and its gift is dead. */
async function fullyRefunded(ctx: Context, { session, payment }: Ground): Promise<void> {
  if (session) await releaseRefunded(ctx, { checkoutSessionId: session.id });
  if (payment?.giftSessionId != null) await giftRefunded(ctx, payment.giftSessionId);
}

async function bounce(ctx: Context, refund: Refund, ground: Ground, code: string): Promise<void> {
  if (refund.settledAt === null || after(refund.settledAt, BOUNCE_MS) < ctx.now()) return;
  refund.status = move(REFUND_STATES, 'refund', refund.status, 'bounce');
  Object.assign(refund, { failureCode: code, bouncedAt: ctx.now(), version: refund.version + 1 });
  const { payment } = ground;
  if (payment)
    Object.assign(payment, { amountRefundedMinor: payment.amountRefundedMinor - refund.amountMinor, version: payment.version + 1 });
  unreserve({ ...ground, payment: null }, refund);
  await returnCredit(ctx, ground, -refund.creditReturnedMinor);
  await invoiceRefunded(ctx, refund, true);
  await told(ctx, refund, ground, 'failed');
  ctx.audit('refund.bounced', refund.id, { code });
}

const factsOf = (ctx: Context, { payment, session }: Ground): Promise<ObligationFacts> =>
  payment ? obligationFacts(ctx, payment) : obligationOfSession(ctx, session!.id);

const regionOf = ({ session, invoice }: Ground): string | null => invoice?.taxRegion ?? session?.taxRegion ?? null;

/** Says what went back, or did not after all. Of cash alone the session stands for the payment. Source: payments 5.1. */
async function told(ctx: Context, refund: Refund, ground: Ground, status: 'succeeded' | 'failed'): Promise<ObligationFacts> {
  const facts = await factsOf(ctx, ground);
  const { payment } = ground;
  const data = {
    refund_id: refund.id,
    payment_id: payment?.id ?? refund.checkoutSessionId!,
    amount: refund.amountMinor,
    currency: refund.currency,
    status,
    reason: refund.reason,
    origin: refund.origin,
    to_cash: refund.toCash,
    cash_return_amount: refund.cashReturnedMinor,
    credit_return_amount: refund.creditReturnedMinor,
    tax_amount: refund.taxMinor,
    tax_region: regionOf(ground),
    order_id: refund.orderId,
    invoice_id: refund.invoiceId,
    subscription_id: refund.subscriptionId,
    payment_amount: payment?.amountCapturedMinor ?? 0,
    total_refunded: payment?.amountRefundedMinor ?? 0,
    ...facts,
  };
  ctx.emit(paymentRefunded, data, { userId: refund.userId });
  return facts;
}

/** Calls for a refund that is PENDING, and applies the answer in a transaction of its own. Not inside a transaction. */
export async function runRefund(host: ServiceHost, id: string): Promise<Refund> {
  const { status } = await host.read(ctx => requireRow(ctx, Refund, { id }));
  if (status !== Status.PENDING) return host.read(ctx => requireRow(ctx, Refund, { id }));
  const result = await callRefund(host, id);
  return host.transaction(ctx => applyRefund(ctx, id, result));
}
