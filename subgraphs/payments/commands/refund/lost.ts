import type { Context } from '../../../../runtime/request/context.js';
import { actorOf } from '../../../../runtime/request/caller.js';
import { RefundOrigin, RefundReason, RefundStatus } from '../../entities/enums-payment.js';
import type { Payment } from '../../entities/payment.js';
import { Refund } from '../../entities/refund.js';

/**
 * Money that arrived for nothing goes back in full: the sweep of refunds asks the processor. Its obligation was never settled, so that only
 * the card's part is to be given back. The payment is locked.
 */
export async function refundLost(ctx: Context, payment: Payment): Promise<void> {
  const amount = payment.refundableMinor;
  if (amount === 0) return;
  const refund = Object.assign(new Refund(), {
    userId: payment.userId,
    paymentId: payment.id,
    checkoutSessionId: payment.checkoutSessionId,
    invoiceId: null,
    amountMinor: amount,
    currency: payment.currency,
    status: RefundStatus.PENDING,
    reason: RefundReason.OTHER,
    origin: RefundOrigin.API,
    processor: payment.processor,
    requester: actorOf(ctx.caller),
    createdAt: ctx.now(),
    nextLookAt: ctx.now(),
  });
  payment.amountReservedMinor += amount;
  payment.version += 1;
  ctx.em.persist(refund);
  ctx.audit('refund.created', refund.id, { payment_id: payment.id, amount, reason: 'nothing is owed' });
}
