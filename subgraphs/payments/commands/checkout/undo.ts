import { lockRow, requireRow } from '../../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../../runtime/request/context.js';
import { Problem } from '../../../../runtime/request/errors.js';
import { CheckoutSession } from '../../entities/checkout.js';
import { BillingCustomer } from '../../entities/customer.js';
import { BillingSessionStatus as Status, CheckoutStep as Step, PaymentStatus } from '../../entities/enums-payment.js';
import { Payment } from '../../entities/payment.js';
import { releaseCash } from '../../ports/cash.js';
import { cancelAtProcessor } from '../charge-cancelling.js';
import { movePayment } from '../charging.js';
import { release, releaseRefunded } from '../promo.js';
import { refundLost } from '../refund/lost.js';
import { abandonForCheckout } from './subscription.js';

/** What a session's payment leaves to be done. */
async function endPayment(host: ServiceHost, session: CheckoutSession): Promise<'ended' | 'captured' | Problem> {
  if (session.paymentId === null) return 'ended';
  const payment = await host.read(ctx => requireRow(ctx, Payment, { id: session.paymentId! }));
  if (payment.status === PaymentStatus.SUCCEEDED) return 'captured';
  if (payment.status === PaymentStatus.AUTHORIZED || payment.status === PaymentStatus.REQUIRES_ACTION)
    return cancelAtProcessor(host, payment.id);
  return 'ended';
}

/** The payment ends with its session: FAILED where time was up, CANCELLED where somebody said so. */
async function close(ctx: Context, session: CheckoutSession): Promise<void> {
  if (session.paymentId === null) return;
  const payment = await lockRow(ctx, Payment, { id: session.paymentId });
  if (payment.status !== PaymentStatus.REQUIRES_PAYMENT_METHOD) return;
  movePayment(payment, session.endAs === Status.EXPIRED ? 'give_up' : 'cancel');
}

async function giveCreditBack(ctx: Context, session: CheckoutSession): Promise<void> {
  const credit = session.creditAppliedMinor;
  if (credit === 0) return;
  const customer = await lockRow(ctx, BillingCustomer, { id: session.customerId });
  customer.creditBalanceMinor += credit;
  Object.assign(session, { creditAppliedMinor: 0, totalMinor: session.totalMinor + credit });
}

/**
 * Compensations in reverse: what was captured goes back in full, what was authorized is voided, cash, credit and promo are given back.
 * Source: payments 5.3.
 */
export async function undo(host: ServiceHost, session: CheckoutSession): Promise<'on' | Problem> {
  const ended = await endPayment(host, session);
  if (ended instanceof Problem) return ended;
  if (session.cashReservationId !== null) await releaseCash(host, session.cashReservationId);
  await host.transaction(async ctx => {
    const row = await lockRow(ctx, CheckoutSession, { id: session.id });
    if (row.step !== Step.UNDOING) return;
    await abandonForCheckout(ctx, row);
    if (ended === 'captured') await refundLost(ctx, await lockRow(ctx, Payment, { id: row.paymentId! }));
    else await close(ctx, row);
    await release(ctx, { checkoutSessionId: row.id });
    await releaseRefunded(ctx, { checkoutSessionId: row.id });
    await giveCreditBack(ctx, row);
    end(ctx, row);
  });
  return 'on';
}

function end(ctx: Context, session: CheckoutSession): void {
  const { cashAppliedMinor: cash } = session;
  Object.assign(session, {
    status: session.endAs ?? Status.CANCELLED,
    step: Step.DONE,
    stepDueAt: null,
    extendHoldsAt: null,
    tokenHash: null,
    tokenSealed: null,
    cashReservationId: null,
    cashAppliedMinor: 0,
    totalMinor: session.totalMinor + cash,
    version: session.version + 1,
  });
  ctx.audit('checkout.ended', session.id, { as: session.status });
}
