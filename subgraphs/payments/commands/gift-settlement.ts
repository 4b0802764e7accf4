import { randomBytes } from 'node:crypto';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { move } from '../../../runtime/request/states.js';
import { GiftStatus } from '../entities/enums-offers.js';
import { BillingSessionStatus } from '../entities/enums-payment.js';
import { Gift, GiftCheckoutSession } from '../entities/gift.js';
import type { Payment } from '../entities/payment.js';
import { sealed } from '../entities/sealed.js';
import { giftCodeHash } from '../ports/gift-pepper.js';
import { GIFT_CODE_BYTES, GIFT_STATES, giftCodeOf, giftExpiry, isRedeemable, type GiftTrigger } from '../rules/gift.js';

/** Moves a gift. @throws Problem conflict for a step that its state does not allow. */
export function moveGift(gift: Gift, trigger: GiftTrigger): void {
  gift.status = move(GIFT_STATES, 'gift', gift.status, trigger);
  gift.version += 1;
}

/** Makes the code: found by its keyed hash, kept sealed for the purchaser. */
function giveCode(ctx: Context, gift: Gift): void {
  const code = giftCodeOf(randomBytes(GIFT_CODE_BYTES));
  Object.assign(gift, {
    codeHash: giftCodeHash(ctx.host, code),
    codeSealed: sealed(ctx, code, 'gift_code', gift.id),
    codeLast4: code.slice(-4),
  });
}

/** Asks comms to bring the gift; comms asks for address and code when it sends. The gift is locked. Source: payments 3.7. */
export function deliverGift(ctx: Context, gift: Gift): void {
  moveGift(gift, 'deliver');
  gift.deliveredAt = ctx.now();
  const message = { template: 'gift_received', params: { kind: gift.kind }, dedupeKey: `gift:${gift.id}`, subject: `gift:${gift.id}` };
  requestMessage(ctx, { giftId: gift.id }, message);
  ctx.audit('gift.delivered', gift.id);
}

/** A gift whose price has arrived, in the transaction of its payment: its code is made, and it is brought when it is due. The session is locked. */
export async function giftPaid(ctx: Context, session: GiftCheckoutSession, payment: Payment): Promise<void> {
  const now = ctx.now();
  Object.assign(session, { status: BillingSessionStatus.COMPLETE, paidAt: now, paymentId: payment.id, version: session.version + 1 });
  const gift = await lockRow(ctx, Gift, { id: session.giftId });
  moveGift(gift, 'pay');
  giveCode(ctx, gift);
  Object.assign(gift, { paymentId: payment.id, expiresAt: giftExpiry(now) });
  ctx.audit('gift.paid', gift.id, { payment_id: payment.id });
  if (gift.deliverAt === null || gift.deliverAt <= now) deliverGift(ctx, gift);
}

/** An attempt to pay a gift failed, or has to wait: the session follows its payment. The session is locked. */
export async function giftChargeChanged(_ctx: Context, session: GiftCheckoutSession, status: BillingSessionStatus): Promise<void> {
  Object.assign(session, { status, version: session.version + 1 });
}

const giftOfSession = async (ctx: Context, sessionId: string): Promise<Gift> => {
  const { giftId } = await ctx.em.findOneOrFail(GiftCheckoutSession, { id: sessionId });
  return lockRow(ctx, Gift, { id: giftId });
};

/** Before a refund begins. @throws Problem conflict for a gift that was redeemed, or is being. Source: payments 3.7. */
export async function requireGiftRefundable(ctx: Context, sessionId: string): Promise<void> {
  const gift = await giftOfSession(ctx, sessionId);
  if (gift.status === GiftStatus.REDEEMED || gift.redeemedById !== null)
    fail('conflict', 'a gift that is redeemed cannot be refunded', { reason: 'gift_redeemed' });
}

/** A code that is worth nothing any more is forgotten; its hash stays, so that it is not made again. */
export function killCode(gift: Gift): void {
  gift.codeSealed = null;
}

/** Everything was refunded: the code is dead. A gift that is not worth anything any more stays as it is. */
export async function giftRefunded(ctx: Context, sessionId: string): Promise<void> {
  const gift = await giftOfSession(ctx, sessionId);
  if (!isRedeemable(gift.status)) return;
  moveGift(gift, 'refund');
  killCode(gift);
  ctx.audit('gift.refunded', gift.id);
}
