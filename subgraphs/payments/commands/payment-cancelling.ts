import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { CheckoutSession } from '../entities/checkout.js';
import { BillingSessionStatus, PaymentStatus } from '../entities/enums-payment.js';
import { Payment } from '../entities/payment.js';
import { PAYMENT_STATES } from '../rules/payment-states.js';
import { cancelAtProcessor } from './charge-cancelling.js';
import { movePayment } from './charging.js';
import { undoCheckout } from './checkout-settlement.js';
import { drive } from './checkout/steps.js';

/** Transaction 1 of a cancellation; its session is given up with it. @throws Problem not_found, conflict for what cannot be cancelled. */
export async function beginCancel(ctx: Context, id: string): Promise<Payment> {
  const { checkoutSessionId } = await requireRow(ctx, Payment, { id }, 'No such payment');
  const session = checkoutSessionId === null ? null : await lockRow(ctx, CheckoutSession, { id: checkoutSessionId });
  const payment = await lockRow(ctx, Payment, { id });
  if (payment.status === PaymentStatus.CANCELLED) return payment;
  move(PAYMENT_STATES, 'payment', payment.status, 'cancel');
  if (session) undoCheckout(ctx, session, BillingSessionStatus.CANCELLED);
  else if (payment.status === PaymentStatus.REQUIRES_PAYMENT_METHOD) movePayment(payment, 'cancel');
  ctx.audit('payment.cancel_asked', payment.id);
  return payment;
}

/** Tells the processor; outside transactions. A problem: it was captured meanwhile, or the processor does not answer. */
export async function callCancel(host: ServiceHost, id: string): Promise<Problem | null> {
  const { checkoutSessionId, status } = await host.read(ctx => requireRow(ctx, Payment, { id }));
  if (checkoutSessionId !== null) await drive(host, checkoutSessionId);
  else if (status === PaymentStatus.AUTHORIZED || status === PaymentStatus.REQUIRES_ACTION) await cancelAtProcessor(host, id);
  const now = await host.read(ctx => requireRow(ctx, Payment, { id }));
  if (now.status === PaymentStatus.CANCELLED) return null;
  if (now.status === PaymentStatus.SUCCEEDED) fail('conflict', 'a payment that is succeeded cannot be cancelled');
  return new Problem('unavailable', 'The processor cannot be reached right now', { retryAfter: 5 });
}
