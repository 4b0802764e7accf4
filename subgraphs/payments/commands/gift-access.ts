import { requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { BillingSessionStatus } from '../entities/enums-payment.js';
import type { GiftDelivery } from '../entities/gift-answer.js';
import { GiftCheckoutSession } from '../entities/gift.js';
import { deliveryOf } from '../queries/gift.js';
import { ownRows } from '../queries/own-rows.js';

/** A paid session with its gift; nothing changes. @throws Problem not_found, conflict while it is not paid. */
export async function finalizeGift(ctx: Context, id: string): Promise<GiftCheckoutSession> {
  const session = await requireRow(ctx, GiftCheckoutSession, { id, ...ownRows(ctx) });
  if (session.status !== BillingSessionStatus.COMPLETE)
    fail('conflict', `a gift's checkout that is ${session.status.replaceAll('_', ' ')} cannot be finalized`, { reason: 'not_paid' });
  ctx.audit('gift.finalized', session.giftId, { session_id: session.id });
  return session;
}

/** What comms needs to bring a gift, and who has asked for it, in a transaction of its own. @throws Problem not_found. */
export const auditedDelivery = (ctx: Context, giftId: string): Promise<GiftDelivery> =>
  ctx.host.transaction(async own => {
    const delivery = await deliveryOf(own, giftId);
    own.audit('gift.address_read', giftId);
    return delivery;
  }, ctx.request);
