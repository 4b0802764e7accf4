import { LockMode } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { earliest } from '../../../runtime/time/due.js';
import { leasedRows } from '../../../runtime/time/leased-rows.js';
import { expireGift, expireGiftSession } from '../commands/gift-expiry.js';
import { applySettled, REDEMPTION_LEASE_MS, settleGift } from '../commands/gift-redemption.js';
import { deliverGift } from '../commands/gift-settlement.js';
import { GiftStatus } from '../entities/enums-offers.js';
import { BillingSessionStatus } from '../entities/enums-payment.js';
import { Gift, GiftCheckoutSession } from '../entities/gift.js';

/** Rows of one run. */
const BATCH = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, limit: 100 } as const;

/** Gifts that are to be brought on a day. Source: payments 3.7. */
const delivery: Timer<Context> = {
  name: 'gift-delivery',
  next: earliest(`select deliver_at as at from payments.gift where status = 'purchased' and deliver_at is not null`),
  run: async (ctx, at) => {
    for (const gift of await ctx.em.find(Gift, { status: GiftStatus.PURCHASED, deliverAt: { $lte: at } }, BATCH)) deliverGift(ctx, gift);
  },
};

/** Codes that nobody has used in time; one that is being redeemed is not over. */
const expiry: Timer<Context> = {
  name: 'gift-expiry',
  next: earliest(`select expires_at as at from payments.gift where status in ('purchased', 'delivered') and redeemed_by_id is null`),
  run: async (ctx, at) => {
    const where = { status: { $in: [GiftStatus.PURCHASED, GiftStatus.DELIVERED] }, redeemedById: null, expiresAt: { $lte: at } };
    for (const gift of await ctx.em.find(Gift, where, BATCH)) expireGift(ctx, gift);
  },
};

/** Purchases that were begun and not paid; of one whose money may still arrive the outcome decides. */
const WAITING = `select s.expires_at as at, s.id from payments.gift_checkout_session s left join payments.payment p on p.id = s.payment_id
  where s.status in ('open', 'requires_action') and (p.status is null or p.status = 'requires_payment_method')`;

const sessions: Timer<Context> = {
  name: 'gift-sessions',
  next: earliest(WAITING),
  run: async (ctx, at) => {
    const due = await ctx.sql<{ id: string }>(`${WAITING} and s.expires_at <= $1 limit 100`, [at.toISOString()]);
    const where = {
      id: { $in: due.map(({ id }) => id) },
      status: { $in: [BillingSessionStatus.OPEN, BillingSessionStatus.REQUIRES_ACTION] },
    };
    for (const session of await ctx.em.find(GiftCheckoutSession, where, BATCH)) await expireGiftSession(ctx, session);
  },
};

/** Redemptions that cash or accounting could not be asked about. Source: payments 7.18. */
const redemptions: Timer<Context> = leasedRows({
  name: 'gift-redemptions',
  everySeconds: 15,
  entity: Gift,
  due: 'settleAt',
  waiting: 'settle_at is not null',
  most: 20,
  leaseMs: REDEMPTION_LEASE_MS,
  work: async (ctx, gift) => {
    const settled = await settleGift(ctx.host, gift.id).catch(() => null);
    if (settled) await ctx.host.transaction(own => applySettled(own, gift.id, settled));
  },
});

export const giftTimers: readonly Timer<Context>[] = [delivery, expiry, sessions, redemptions];
