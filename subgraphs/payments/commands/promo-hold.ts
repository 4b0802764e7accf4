import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { PromoHoldStatus } from '../entities/enums-offers.js';
import { Promo, PromoRedemption } from '../entities/promo.js';
import type { PromoHold } from '../entities/promo-answer.js';
import type { ReservePromoInput } from '../inputs/promo.js';
import { promoLines } from '../queries/promo-lines.js';
import { REDEMPTION_STATES } from '../rules/promo.js';
import { lockHeld, markRedeemed, moveCounts, release, reserve } from './promo.js';

function holdOf(one: PromoRedemption, { code }: Promo): PromoHold {
  const discount = { amount: one.discountMinor, currency: one.currency };
  return { id: one.id, code, orderId: one.orderId!, status: one.status, discount, allocations: one.allocations };
}

const promoOfHold = (ctx: Context, one: PromoRedemption): Promise<Promo> => ctx.em.findOneOrFail(Promo, { id: one.promoId });

/** The code of an order, held until it is committed or released; of one that has a hold, that one. Source: payments 4.2. */
export async function reserveOrderPromo(ctx: Context, input: ReservePromoInput): Promise<PromoHold> {
  const [orderId, userId, brandId] = [input.orderId, input.userId, input.brandId].map(id => id.toLowerCase()) as [string, string, string];
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 23))', [`promo:${orderId}`]); // a repeat waits for the first one
  const known = await lockHeld(ctx, { orderId });
  if (known) return holdOf(known, await promoOfHold(ctx, known));
  const asked = { userId, brandId, ...promoLines(input.lines) };
  const { promo, redemption } = await reserve(ctx, { orderId }, asked, input.code, '/input/code');
  ctx.audit('promo.reserved', promo.id, { order_id: orderId });
  return holdOf(redemption, promo);
}

const requireHeld = async (ctx: Context, orderId: string): Promise<PromoRedemption> =>
  (await lockHeld(ctx, { orderId: orderId.toLowerCase() })) ?? fail('not_found', 'The order has no promo');

/** Counts of a commit: after a release it is counted, never refused, over the limits too, because the order has promised it. */
const COMMITTED = { reserved: { reserved: -1, redeemed: 1 }, released: { reserved: 0, redeemed: 1, late: 1 } } as const;

/** The order is paid. Again: nothing. @throws Problem not_found. */
export async function commitOrderPromo(ctx: Context, orderId: string): Promise<PromoHold> {
  const one = await requireHeld(ctx, orderId);
  if (one.status !== PromoHoldStatus.REDEEMED) {
    one.late = one.status === PromoHoldStatus.RELEASED;
    await moveCounts(ctx, one.promoId, COMMITTED[one.status]);
    markRedeemed(ctx, one);
    ctx.audit('promo.redeemed', one.promoId, { order_id: one.orderId, late: one.late });
  }
  return holdOf(one, await promoOfHold(ctx, one));
}

/** The order is not going to be paid. Again: nothing. @throws Problem not_found, conflict for one that is redeemed. */
export async function releaseOrderPromo(ctx: Context, orderId: string): Promise<PromoHold> {
  const one = await requireHeld(ctx, orderId);
  if (one.status === PromoHoldStatus.REDEEMED) move(REDEMPTION_STATES, 'promo redemption', one.status, 'release');
  await release(ctx, { orderId: one.orderId! });
  return holdOf(one, await promoOfHold(ctx, one));
}
