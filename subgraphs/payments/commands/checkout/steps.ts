import { lockRow, requireRow } from '../../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { after } from '../../../../runtime/time/durations.js';
import { CheckoutSession } from '../../entities/checkout.js';
import { BillingCustomer } from '../../entities/customer.js';
import { BillingSessionStatus as Status, CheckoutMode, CheckoutStep as Step, PaymentAttemptStatus } from '../../entities/enums-payment.js';
import { PaymentMethod } from '../../entities/payment-method.js';
import { Payment, PaymentAttempt } from '../../entities/payment.js';
import { commitCash, extendCash, reserveCash, type CashHold } from '../../ports/cash.js';
import { STEP_LEASE_MS } from '../../rules/checkout.js';
import { begunCharge, runCharge, type BegunCharge } from '../charging.js';
import { completeCheckout, undoCheckout } from '../checkout-settlement.js';
import { ensureAtProcessor } from '../customer.js';
import { attachRefusal, callAttach, completeMethod, isDraft } from '../payment-method.js';
import { lockObligation } from '../settlement.js';
import { beginIn } from './begin.js';
import { applyHolds, noteHold, totalsOf } from './holds.js';
import { beginPayment } from './payment.js';
import { undo } from './undo.js';

/** What a step came to: go on, wait for somebody else, or a refusal that the caller is told. */
type Outcome = 'on' | 'wait' | Problem;
type StepWork = (host: ServiceHost, session: CheckoutSession) => Promise<Outcome>;

/** What a session's cash is spent for: the obligation that is settled. */
const referenceOf = ({ id, orderId, invoiceId }: CheckoutSession): { type: string; id: string } =>
  orderId !== null ? { type: 'order', id: orderId } : invoiceId !== null ? { type: 'invoice', id: invoiceId } : { type: 'checkout', id };

/** Step of a session that others may be working on, too: nothing where it has moved on meanwhile. */
async function inStep(
  host: ServiceHost,
  { id, step }: CheckoutSession,
  work: (ctx: Context, session: CheckoutSession) => Promise<void>,
): Promise<void> {
  await host.transaction(async ctx => {
    const session = await lockRow(ctx, CheckoutSession, { id });
    if (session.step === step) await work(ctx, session);
  });
}

/** The method that was named by a token is attached first. */
async function attachNamed(host: ServiceHost, session: CheckoutSession): Promise<Problem | null> {
  if (session.paymentMethodId === null) return null;
  const method = await host.read(ctx => requireRow(ctx, PaymentMethod, { id: session.paymentMethodId! }));
  if (!isDraft(method)) return (await ensureAtProcessor(host, session.customerId), null);
  const result = await callAttach(host, method);
  if (result.status !== 'succeeded') return attachRefusal(result, '/input/paymentMethodToken');
  await inStep(host, session, async (ctx, row) => {
    row.paymentMethodId = (await completeMethod(ctx, method.id, result.data, false)).method.id;
  });
  return null;
}

/** Step 2 of the saga: cash is held before the card is charged. Answers what is held; null for none. */
async function holdCash(host: ServiceHost, session: CheckoutSession, exact: number | null = null): Promise<CashHold | null> {
  const held = session.cashReservationId === null || exact !== null ? null : await extendCash(host, session.cashReservationId);
  if (held) return held;
  const max = exact ?? totalsOf(session);
  if (!session.useCash || max === 0) return null;
  const { id, userId, currency, subtotalMinor, discountMinor, lines, holds } = session;
  const subjectKinds = [...new Set(lines.flatMap(({ subjectKind }) => subjectKind ?? []))];
  const wanted = { userId, currency, max, exact: exact !== null, subtotal: subtotalMinor - discountMinor, subjectKinds };
  return reserveCash(host, { ...wanted, reference: referenceOf(session) }, `checkout:${id}:${holds}`);
}

const hold: StepWork = async (host, session) => {
  const refusal = await attachNamed(host, session);
  if (refusal) return refusal;
  const cash = session.useCash ? await holdCash(host, session) : null;
  await inStep(host, session, async (ctx, row) => {
    applyHolds(row, await lockRow(ctx, BillingCustomer, { id: row.customerId }), cash);
    Object.assign(row, { step: Step.RESERVED, stepDueAt: after(ctx.now(), STEP_LEASE_MS), stepTries: 0 });
  });
  return 'on';
};

function completeSetup(ctx: Context, session: CheckoutSession): void {
  Object.assign(session, { status: Status.COMPLETE, step: Step.DONE, stepDueAt: null, tokenHash: null, tokenSealed: null });
  session.version += 1;
  ctx.audit('checkout.completed', session.id, { mode: session.mode });
}

const begin: StepWork = async (host, session) => {
  const terms = await beginPayment.facts(host, session);
  let begun: BegunCharge | null = null;
  await inStep(host, session, async (ctx, row) => {
    if (row.mode === CheckoutMode.SETUP) return completeSetup(ctx, row);
    begun = await beginIn(ctx, row, terms);
  });
  if (begun) await runCharge(host, begun);
  return 'on';
};

/** The attempt that nobody has asked the processor about yet. */
async function freshAttempt(host: ServiceHost, { paymentId }: CheckoutSession): Promise<PaymentAttempt | null> {
  const where = { paymentId, status: PaymentAttemptStatus.PENDING, processorRef: null };
  return paymentId === null ? null : host.read(ctx => ctx.em.findOne(PaymentAttempt, where));
}

const charge: StepWork = async (host, session) => {
  const attempt = await freshAttempt(host, session);
  if (!attempt) return 'wait';
  await runCharge(host, await host.read(ctx => begunCharge(ctx, attempt.id)));
  return 'on';
};

/** Cash that is held is spent. False: it cannot be had any more, though it was asked for again. */
async function spendCash(host: ServiceHost, session: CheckoutSession): Promise<boolean> {
  if (session.cashReservationId === null || (await commitCash(host, session.cashReservationId))) return true;
  const again = await holdCash(host, session, session.cashAppliedMinor);
  await inStep(host, session, async (_ctx, row) => noteHold(row, again));
  return again !== null && commitCash(host, again.id);
}

const settleHolds: StepWork = async (host, session) => {
  const isSpent = await spendCash(host, session);
  await inStep(host, session, async (ctx, row) => {
    if (!isSpent) return undoCheckout(ctx, row, Status.CANCELLED);
    const payment = row.paymentId === null ? null : await requireRow(ctx, Payment, { id: row.paymentId });
    const ids = { checkoutSessionId: null, giftSessionId: null, subscriptionId: row.subscriptionId, invoiceId: row.invoiceId };
    const { invoice } = await lockObligation(ctx, row.mode === CheckoutMode.SUBSCRIPTION ? ids : { ...ids, invoiceId: null });
    await completeCheckout(ctx, row, payment && (await lockRow(ctx, Payment, { id: payment.id })), invoice);
  });
  return 'on';
};

const WORK: Readonly<Record<Step, StepWork | null>> = {
  [Step.NEW]: hold,
  [Step.RESERVED]: begin,
  [Step.CHARGING]: charge,
  [Step.SETTLING]: settleHolds,
  [Step.UNDOING]: undo,
  [Step.DONE]: null,
};

/** More steps than a session has; a guard against one that does not move on. */
const MOST_STEPS = 20;

/** Whether a session has been asked to go on: one that waits for its customer has not. */
const isDue = ({ step, stepDueAt }: CheckoutSession): boolean => stepDueAt !== null || step === Step.CHARGING;

/**
 * Takes a session through its saga as far as it goes, from wherever it stands; outside transactions. Any number of processes may do so at
 * once. @param begun charge that the caller's transaction has begun. @returns what the caller is refused; null for nothing.
 * @throws Problem unavailable where a neighbour cannot answer: the sweep goes on.
 */
export async function drive(host: ServiceHost, id: string, begun?: BegunCharge | null): Promise<Problem | null> {
  let known = begun ? (await runCharge(host, begun)).obligation.session : null;
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const session = known ?? (await host.read(ctx => requireRow(ctx, CheckoutSession, { id })));
    const work = WORK[session.step];
    if (!work || !isDue(session)) return null;
    const outcome = await work(host, session);
    known = null;
    if (outcome === 'wait') return null;
    if (outcome instanceof Problem) return outcome;
  }
  throw new Error('a checkout session does not move on');
}
