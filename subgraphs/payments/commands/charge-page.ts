import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { CheckoutSession } from '../entities/checkout.js';
import { GiftCheckoutSession } from '../entities/gift.js';
import type { Payment } from '../entities/payment.js';

/** What a payment is made in, which has a page; null for one that has its own. */
export type ChargeSession = CheckoutSession | GiftCheckoutSession | null;

export const chargeSession = async (ctx: Context, { checkoutSessionId, giftSessionId }: Payment): Promise<ChargeSession> =>
  (await findRow(ctx, CheckoutSession, { id: checkoutSessionId ?? '' })) ??
  (await findRow(ctx, GiftCheckoutSession, { id: giftSessionId ?? '' }));
