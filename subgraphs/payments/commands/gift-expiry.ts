import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { BillingSessionStatus, PaymentStatus } from '../entities/enums-payment.js';
import { Gift, type GiftCheckoutSession } from '../entities/gift.js';
import { Payment } from '../entities/payment.js';
import { movePayment } from './charging.js';
import { killCode, moveGift } from './gift-settlement.js';

/** A code that was not used in time, or a gift that was not paid. It is locked. */
export function expireGift(ctx: Context, gift: Gift): void {
  moveGift(gift, 'expire');
  killCode(gift);
  ctx.audit('gift.expired', gift.id);
}

/** A purchase that was not paid in time: nothing of it goes on. The session is locked. */
export async function expireGiftSession(ctx: Context, session: GiftCheckoutSession): Promise<void> {
  Object.assign(session, { status: BillingSessionStatus.EXPIRED, version: session.version + 1 });
  if (session.paymentId !== null) {
    const payment = await lockRow(ctx, Payment, { id: session.paymentId });
    if (payment.status === PaymentStatus.REQUIRES_PAYMENT_METHOD) movePayment(payment, 'give_up');
  }
  expireGift(ctx, await lockRow(ctx, Gift, { id: session.giftId }));
}
