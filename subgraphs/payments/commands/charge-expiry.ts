import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { CheckoutSession } from '../entities/checkout.js';
import { BillingSessionStatus, DeclineCategory, PaymentAttemptStatus, PaymentStatus } from '../entities/enums-payment.js';
import { Payment, PaymentAttempt } from '../entities/payment.js';
import { processorOf } from '../ports/processors.js';
import { AUTHENTICATION_REQUIRED } from '../rules/decline.js';
import { applyCharge, type ChargeResult } from './charging.js';
import { drive } from './checkout/steps.js';
import { undoCheckout } from './checkout-settlement.js';

/** The attempt that the customer did not come back to. */
const waiting = (ctx: Context, paymentId: string): Promise<PaymentAttempt | null> =>
  ctx.em.findOne(PaymentAttempt, { paymentId, status: PaymentAttemptStatus.REQUIRES_ACTION }, { refresh: true });

const expired: ChargeResult = {
  status: 'declined',
  decline: { code: AUTHENTICATION_REQUIRED, category: DeclineCategory.ACTION_REQUIRED },
  data: null,
};

/**
 * The time is over in which a customer could authenticate, or an authorization be captured; outside transactions. The processor is told
 * first, and what it captured meanwhile counts.
 */
export async function expireAction(host: ServiceHost, paymentId: string): Promise<void> {
  const payment = await host.read(ctx => requireRow(ctx, Payment, { id: paymentId }));
  if (payment.status === PaymentStatus.AUTHORIZED) return endSession(host, payment);
  const attempt = await host.read(ctx => waiting(ctx, paymentId));
  if (!attempt || payment.processorRef === null) return;
  const call = { idempotencyKey: `cancel:${attempt.id}`, clock: await host.read(async ctx => ctx.clock) };
  const result = await processorOf(host).cancel({ chargeId: payment.processorRef }, call);
  if (result.status === 'unknown') return;
  const outcome = result.status === 'declined' ? await processorOf(host).retrieveCharge({ id: payment.processorRef }, call) : expired;
  const now = await host.transaction(ctx => applyCharge(ctx, attempt.id, outcome));
  if (now.checkoutSessionId !== null) await drive(host, now.checkoutSessionId);
}

/** An authorization that nobody captured: its session is given up, which voids it. */
async function endSession(host: ServiceHost, { checkoutSessionId }: Payment): Promise<void> {
  if (checkoutSessionId === null) return;
  await host.transaction(async ctx => {
    const session = await lockRow(ctx, CheckoutSession, { id: checkoutSessionId });
    if (session.status === BillingSessionStatus.PROCESSING) undoCheckout(ctx, session, BillingSessionStatus.CANCELLED);
  });
  await drive(host, checkoutSessionId);
}
