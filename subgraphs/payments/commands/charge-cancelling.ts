import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { PaymentAttemptStatus, PaymentStatus } from '../entities/enums-payment.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import { processorOf } from '../ports/processors.js';
import { applyCharge, movePayment } from './charging.js';

/** The attempt that authorized, or waits for the customer. */
const liveAttempt = async (ctx: Context, paymentId: string): Promise<PaymentAttempt | null> => {
  const status = { $in: [PaymentAttemptStatus.AUTHORIZED, PaymentAttemptStatus.REQUIRES_ACTION] };
  return ctx.em.findOne(PaymentAttempt, { paymentId, status }, { refresh: true });
};

/** Nothing of the payment will be captured any more. */
async function cancelled(ctx: Context, paymentId: string): Promise<void> {
  const payment = await lockRow(ctx, Payment, { id: paymentId });
  const attempt = await liveAttempt(ctx, paymentId);
  if (attempt) Object.assign(attempt, { status: PaymentAttemptStatus.FAILED, settledAt: ctx.now(), nextLookAt: null });
  if (payment.status !== PaymentStatus.AUTHORIZED && payment.status !== PaymentStatus.REQUIRES_ACTION) return;
  movePayment(payment, 'cancel');
  Object.assign(payment, { nextActionUrl: null, nextActionExpiresAt: null, captureBefore: null });
  ctx.audit('payment.cancelled', payment.id);
}

const unreachable = (): Problem => new Problem('unavailable', 'The processor cannot be reached right now', { retryAfter: 5 });

/**
 * Voids what a payment has authorized, or waits for; outside transactions. `captured`: the processor was faster, and that has been applied.
 * A problem: it does not answer.
 */
export async function cancelAtProcessor(host: ServiceHost, paymentId: string): Promise<'ended' | 'captured' | Problem> {
  const [payment, attempt] = await host.read(async ctx => [
    await requireRow(ctx, Payment, { id: paymentId }),
    await liveAttempt(ctx, paymentId),
  ]);
  if (!attempt || payment.processorRef === null) return (await host.transaction(ctx => cancelled(ctx, paymentId)), 'ended');
  const call = { idempotencyKey: `cancel:${attempt.id}`, clock: await host.read(async ctx => ctx.clock) };
  const result = await processorOf(host).cancel({ chargeId: payment.processorRef }, call);
  if (result.status === 'unknown') return unreachable();
  if (result.status !== 'declined') return (await host.transaction(ctx => cancelled(ctx, paymentId)), 'ended');
  const found = await processorOf(host).retrieveCharge({ id: payment.processorRef }, call);
  const now = await host.transaction(ctx => applyCharge(ctx, attempt.id, found));
  return now.status === PaymentStatus.SUCCEEDED ? 'captured' : unreachable();
}
