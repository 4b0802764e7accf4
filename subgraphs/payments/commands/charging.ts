import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { after } from '../../../runtime/time/durations.js';
import { BillingCustomer } from '../entities/customer.js';
import { CaptureMethod, PaymentAttemptStatus as AttemptStatus, type PaymentStatus } from '../entities/enums-payment.js';
import { hostedUrl } from '../entities/hosted.js';
import { opened } from '../entities/sealed.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import type { ProcessorCharge, ProcessorResult } from '../ports/processor.js';
import { processorOf } from '../ports/processors.js';
import { ATTEMPT_LEASE_MS, isUndecided, PAYMENT_STATES, type PaymentTrigger } from '../rules/payment-states.js';
import { methodSummary } from '../rules/payment-method.js';
import { applyOutcome, type ChargeRows } from './charge-outcome.js';
import { chargeSession, type ChargeSession } from './charge-page.js';
import { hostedToken } from './hosted.js';
import { lockObligation, type Subject } from './settlement.js';

export type ChargeResult = ProcessorResult<ProcessorCharge>;

interface Charge {
  /** New, or locked. Its obligation is locked before it. */
  payment: Payment;
  method: PaymentMethod;
  /** The customer is absent. */
  offSession: boolean;
}

/** Moves a payment. @throws Problem conflict for a step that its state does not allow. */
export function movePayment(payment: Payment, trigger: PaymentTrigger): PaymentStatus {
  payment.version += 1;
  return (payment.status = move(PAYMENT_STATES, 'payment', payment.status, trigger));
}

/** @throws Problem conflict, reason `attempt_running`: its outcome is not known, and a second one might charge twice. Source: payments 7.2. */
async function requireDecided(ctx: Context, payment: Payment): Promise<void> {
  if (payment.attemptCount === 0) return;
  const attempts = await ctx.em.find(PaymentAttempt, { paymentId: payment.id }, { refresh: true });
  const running = attempts.some(({ status }) => isUndecided(status) || status === AttemptStatus.REQUIRES_ACTION);
  if (running) fail('conflict', 'An attempt of this payment is not decided yet', { reason: 'attempt_running' });
}

/**
 * Transaction 1 of a charge: the payment goes to PROCESSING with an attempt that is PENDING; nothing is asked of the processor yet.
 * @throws Problem conflict while another attempt is not decided, or where the payment has ended.
 */
export async function beginCharge(ctx: Context, { payment, method, offSession }: Charge): Promise<PaymentAttempt> {
  await requireDecided(ctx, payment);
  movePayment(payment, 'confirm');
  payment.attemptCount += 1;
  const { id: paymentMethodId } = method;
  const hasPage = payment.checkoutSessionId !== null || payment.giftSessionId !== null || payment.tokenHash !== null;
  if (!hasPage) Object.assign(payment, hostedToken(ctx, payment.id));
  Object.assign(payment, { paymentMethodId, methodSummary: methodSummary(method), offSession, lastError: null });
  const attempt = Object.assign(new PaymentAttempt(), {
    paymentId: payment.id,
    number: payment.attemptCount,
    paymentMethodId,
    amountMinor: payment.amountMinor,
    offSession,
    cardBrand: method.cardBrand,
    startedAt: ctx.now(),
    nextLookAt: after(ctx.now(), ATTEMPT_LEASE_MS),
  });
  ctx.em.persist(payment);
  ctx.em.persist(attempt);
  ctx.audit('payment.attempted', payment.id, { attempt: attempt.number, amount: payment.amountMinor, currency: payment.currency });
  return attempt;
}

/** A payment and what it is for, none of which ever changes. */
type PaymentSubject = Pick<Payment, 'id'> & Subject;

async function paymentOf(ctx: Context, attemptId: string): Promise<Payment> {
  const { paymentId } = await requireRow(ctx, PaymentAttempt, { id: attemptId });
  return requireRow(ctx, Payment, { id: paymentId });
}

/** An attempt that has begun, with what the processor is told of it. */
export interface BegunCharge {
  attempt: PaymentAttempt;
  payment: Payment;
  method: PaymentMethod;
  customer: BillingCustomer;
  session: ChargeSession;
}

/** @param ctx of any request; that of the transaction that has begun the attempt has its rows already. */
export async function begunCharge(ctx: Context, attemptId: string): Promise<BegunCharge> {
  const attempt = await requireRow(ctx, PaymentAttempt, { id: attemptId });
  const payment = await requireRow(ctx, Payment, { id: attempt.paymentId });
  const method = await requireRow(ctx, PaymentMethod, { id: attempt.paymentMethodId! });
  const customer = await requireRow(ctx, BillingCustomer, { id: method.customerId });
  return { attempt, payment, method, customer, session: await chargeSession(ctx, payment) };
}

/** Asks the processor, outside any transaction; the attempt's id is the key, so that a repeat has one effect. Never throws for its answer. */
export function callCharge(ctx: Context, { attempt, payment, method, customer, session }: BegunCharge): Promise<ChargeResult> {
  return processorOf(ctx.host).charge(
    {
      amount: attempt.amountMinor,
      currency: payment.currency,
      customerId: customer.processorRef!,
      methodId: opened<string>(ctx, method.tokenSealed, 'payment_method_token', method.id)!,
      capture: payment.capture === CaptureMethod.MANUAL ? 'manual' : 'automatic',
      offSession: attempt.offSession,
      statementDescriptor: payment.statementDescriptor,
      returnUrl: session?.returnUrl ?? null,
      authenticationUrl: hostedUrl(ctx, session ?? payment),
      metadata: { payment_id: payment.id, attempt_id: attempt.id },
    },
    { idempotencyKey: attempt.id, clock: ctx.clock },
  );
}

/** Locks obligation, payment, customer and attempt, and applies what became of it. */
async function applyTo(ctx: Context, attemptId: string, result: ChargeResult, of: PaymentSubject): Promise<ChargeRows> {
  const obligation = await lockObligation(ctx, of);
  const payment = await lockRow(ctx, Payment, { id: of.id });
  const bought = obligation.session ?? obligation.gift;
  if (bought) await lockRow(ctx, BillingCustomer, { id: bought.customerId }); // now, because a lock after the changes would write them first
  const attempt = await lockRow(ctx, PaymentAttempt, { id: attemptId });
  const rows = { payment, attempt, obligation };
  await applyOutcome(ctx, rows, result);
  return rows;
}

/**
 * Transaction 2 of a charge: what the processor answered, or what was found out later, whoever comes first; those after find it done.
 * Obligation and payment are locked here. @returns the payment as it is then.
 */
export const applyCharge = async (ctx: Context, attemptId: string, result: ChargeResult): Promise<Payment> =>
  (await applyTo(ctx, attemptId, result, await paymentOf(ctx, attemptId))).payment;

/** Calls the processor for an attempt that has begun, and applies the answer in a transaction of its own, outside any. @returns its rows as they are then. */
export async function runCharge(host: ServiceHost, begun: BegunCharge): Promise<ChargeRows> {
  const result = await host.read(ctx => callCharge(ctx, begun));
  return host.transaction(ctx => applyTo(ctx, begun.attempt.id, result, begun.payment));
}
