import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import { PaymentStatus } from '../entities/enums-payment.js';
import { GiftCheckoutSession } from '../entities/gift.js';
import { Payment } from '../entities/payment.js';
import type { CreateGiftCheckoutSessionInput } from '../inputs/gift.js';
import { chargeGift, giftFacts, openGiftSession } from './gift-checkout.js';

interface Asked {
  input: CreateGiftCheckoutSessionInput;
}

export const giftCharge = twoPhases<Asked, Payment | null>({
  intend: async (ctx, { input }) => (await openGiftSession(ctx, input, giftFacts.of(ctx))).id,
  call: (ctx, { id }) => chargeGift(ctx.host, id),
});

/** The refusal of a charge, as its caller sees it. Source: payments 4. */
function declined({ id: payment_id, lastError }: Payment, checkout_session_id: string): Problem {
  const { declineCode, category, retryable, message } = lastError!;
  const members = { declineCode, category, retryable, paymentId: payment_id, checkoutSessionId: checkout_session_id };
  return new Problem('payment_declined', message, { members });
}

/** Transaction 2: the session as the charge has left it, or the refusal. */
export async function finishGiftCheckout(ctx: Context): Promise<GiftCheckoutSession> {
  const { intent } = giftCharge.of(ctx);
  const session = await requireRow(ctx, GiftCheckoutSession, { id: intent.id });
  const payment = session.paymentId === null ? null : await requireRow(ctx, Payment, { id: session.paymentId });
  if (payment?.status === PaymentStatus.REQUIRES_PAYMENT_METHOD && payment.lastError) return declined(payment, session.id) as never;
  return session;
}
