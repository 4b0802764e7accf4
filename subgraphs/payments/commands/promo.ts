import { LockMode } from '@mikro-orm/postgresql';
import { lockFound } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { after, DAY_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import type { CheckoutSession } from '../entities/checkout.js';
import { PromoHoldStatus, PromoRefusal } from '../entities/enums-offers.js';
import { BillingPrice } from '../entities/price.js';
import { Promo, type PromoAllocation, PromoRedemption } from '../entities/promo.js';
import { promoOf, refusalNow, usesOf, type PromoCase } from '../queries/promo.js';
import { discountOf, REDEMPTION_STATES, type Discount, type PromoLine, type RedemptionTrigger } from '../rules/promo.js';

/** What holds a promo: a checkout of ours, an order of commerce, or a subscription that begins without a checkout. */
export type PromoHolder = { checkoutSessionId: string } | { orderId: string } | { subscriptionId: string };

/** A reservation lives so long, and longer only while money may still arrive, at most so long in all. Source: payments 5.3, 7.12. */
const RESERVED_MS = 30 * MINUTE_MS;
const MOST_MS = 8 * DAY_MS;
/** A full refund so long after the redemption gives the code back. Source: payments 3.7. */
const REFUNDED_MS = DAY_MS;

/** The one conditional write: no row, when the limit is reached. A promo that it exhausts says so. */
const COUNT = `
  update payments.promo set reserved_count = reserved_count + $2, redeemed_count = redeemed_count + $3,
    status = case when status = 'active' and redeemed_count + reserved_count + 1 >= max_redemptions then 'exhausted' else status end
  where id = $1 and (max_redemptions is null or redeemed_count + reserved_count < max_redemptions) returning 1`;

/** Moves counts without a limit: what was reserved is redeemed, or given back. */
const MOVE = `
  update payments.promo set reserved_count = reserved_count + $2, redeemed_count = redeemed_count + $3, late_count = late_count + $4,
    status = case when status = 'exhausted' and redeemed_count + reserved_count + $2 + $3 < max_redemptions then 'active'
      when status = 'active' and redeemed_count + reserved_count + $2 + $3 >= max_redemptions then 'exhausted' else status end
  where id = $1`;

export interface Moved {
  reserved: number;
  redeemed: number;
  late?: number;
}

export const moveCounts = (ctx: Context, promoId: string, { reserved, redeemed, late = 0 }: Moved): Promise<unknown> =>
  ctx.sql(MOVE, [promoId, reserved, redeemed, late]);

/** Counts one more use within the limit. @param as `reserved` or `redeemed`. */
async function isCounted(ctx: Context, promoId: string, as: 'reserved' | 'redeemed'): Promise<boolean> {
  const counts = as === 'reserved' ? [1, 0] : [0, 1];
  return (await ctx.sql(COUNT, [promoId, ...counts])).length > 0;
}

/** @param pointer where the code stands in the input. */
function refuse(reason: PromoRefusal, pointer: string): never {
  invalid(pointer, 'is refused', { reason });
}

const allocationsOf = ({ allocations }: Discount, currency: string): PromoAllocation[] =>
  allocations.map(one => ({ ...one, amount: { amount: one.amount, currency } }));

export interface Reserved {
  promo: Promo;
  redemption: PromoRedemption;
}

/**
 * Reserves a code, in the transaction of what it is for. Parallel ones wait at the promo's row, so neither its limit nor that of the user
 * can be passed. @throws Problem invalid_request at `pointer` with the refusal as its reason.
 */
export async function reserve(
  ctx: Context,
  holder: PromoHolder,
  asked: PromoCase & { userId: string },
  code: string,
  pointer: string,
): Promise<Reserved> {
  const promo = await promoOf(ctx, asked.brandId, code);
  const refusal = await refusalNow(ctx, promo, asked);
  if (refusal !== null || promo === null) refuse(refusal ?? PromoRefusal.UNKNOWN, pointer);
  if (!(await isCounted(ctx, promo.id, 'reserved'))) refuse(PromoRefusal.EXHAUSTED, pointer);
  if ((await usesOf(ctx, promo.id, asked.userId)) >= promo.perUserLimit) refuse(PromoRefusal.ALREADY_USED, pointer); // now that others wait
  const discount = discountOf(promo, asked.lines);
  const redemption = Object.assign(new PromoRedemption(), holder, {
    promoId: promo.id,
    userId: asked.userId,
    discountMinor: discount.amount,
    currency: asked.currency,
    allocations: allocationsOf(discount, asked.currency),
    expiresAt: 'orderId' in holder ? null : after(ctx.now(), RESERVED_MS),
    createdAt: ctx.now(),
  });
  await ctx.em.persist(redemption).flush();
  await ctx.em.refresh(promo);
  return { promo, redemption };
}

/** Lines of a checkout, with what its prices say about them. */
async function linesOf(ctx: Context, { lines }: Pick<CheckoutSession, 'lines'>): Promise<PromoLine[]> {
  const ids = lines.flatMap(({ priceId }) => priceId ?? []);
  const prices = new Map((await ctx.em.find(BillingPrice, { id: { $in: ids } })).map(price => [price.id, price]));
  return lines.map(line => ({
    priceId: line.priceId,
    subjectKind: line.subjectKind ?? '',
    subjectId: line.subjectId ?? line.priceId ?? '',
    subtotal: line.subtotal,
    recurring: prices.get(line.priceId ?? '')?.interval != null,
  }));
}

export interface CheckoutPromo {
  promo: Promo;
  /** Minor units. */
  discount: number;
  allocations: readonly PromoAllocation[];
}

type Buying = Pick<CheckoutSession, 'id' | 'userId' | 'brandId' | 'currency' | 'lines'>;

/** Step 1 of the saga: the session's code for 30 min; for a session that has one, what it has. Source: payments 5.3. */
export async function reserveForCheckout(ctx: Context, session: Buying, code: string): Promise<CheckoutPromo> {
  const { id: checkoutSessionId, userId, brandId, currency } = session;
  const lines = await linesOf(ctx, session);
  const { promo, redemption } = await reserve(ctx, { checkoutSessionId }, { userId, brandId, currency, lines }, code, '/input/promoCode');
  return { promo, discount: redemption.discountMinor, allocations: redemption.allocations };
}

/** What a holder has, locked until the transaction ends; null for nothing. */
export const lockHeld = (ctx: Context, holder: PromoHolder): Promise<PromoRedemption | null> => lockFound(ctx, PromoRedemption, holder);

/** Counts what was given back and is wanted again, within the limits. */
async function isCountedAgain(ctx: Context, { promoId, userId }: PromoRedemption): Promise<boolean> {
  if (!(await isCounted(ctx, promoId, 'redeemed'))) return false;
  const { perUserLimit } = await ctx.em.findOneOrFail(Promo, { id: promoId });
  if ((await usesOf(ctx, promoId, userId)) < perUserLimit) return true;
  await moveCounts(ctx, promoId, { reserved: 0, redeemed: -1 });
  return false;
}

/** Marks a use as redeemed; its counts are the caller's business. */
export function markRedeemed(ctx: Context, one: PromoRedemption): void {
  one.status = move(REDEMPTION_STATES, 'promo redemption', one.status, 'redeem');
  Object.assign(one, { redeemedAt: ctx.now(), expiresAt: null });
}

/**
 * The money has come: what was reserved is redeemed, and what expired meanwhile is made again. False where the limits no longer allow that:
 * then the money goes back. Without a reservation, or redeemed before: nothing. Source: payments 5.3, step 4.
 */
export async function redeem(ctx: Context, holder: PromoHolder): Promise<boolean> {
  const one = await lockHeld(ctx, holder);
  if (one === null || one.status === PromoHoldStatus.REDEEMED) return true;
  if (one.status === PromoHoldStatus.RESERVED) await moveCounts(ctx, one.promoId, { reserved: -1, redeemed: 1 });
  else if (!(await isCountedAgain(ctx, one))) return false;
  markRedeemed(ctx, one);
  return true;
}

async function giveBack(ctx: Context, one: PromoRedemption, trigger: RedemptionTrigger, counts: Moved): Promise<void> {
  one.status = move(REDEMPTION_STATES, 'promo redemption', one.status, trigger);
  Object.assign(one, { releasedAt: ctx.now(), expiresAt: null, late: false });
  await moveCounts(ctx, one.promoId, counts);
}

/** Gives a reservation back; what is not reserved stays as it is. */
export async function release(ctx: Context, holder: PromoHolder): Promise<void> {
  const one = await lockHeld(ctx, holder);
  if (one?.status === PromoHoldStatus.RESERVED) await giveBack(ctx, one, 'release', { reserved: -1, redeemed: 0 });
}

/** Everything was refunded: within a day the code may be used again. Source: payments 3.7. */
export async function releaseRefunded(ctx: Context, holder: PromoHolder): Promise<void> {
  const one = await lockHeld(ctx, holder);
  if (one?.status !== PromoHoldStatus.REDEEMED || after(one.redeemedAt!, REFUNDED_MS) <= ctx.now()) return;
  await giveBack(ctx, one, 'refund', { reserved: 0, redeemed: -1, late: one.late ? -1 : 0 });
}

/** Ids of sessions whose money may still arrive. */
const IN_FLIGHT = `
  select s.id from payments.checkout_session s left join payments.payment p on p.id = s.payment_id
  where s.id = any($1) and (s.status = 'processing' or p.status in ('processing', 'requires_action', 'authorized'))`;

async function inFlight(ctx: Context, due: readonly PromoRedemption[]): Promise<Set<string>> {
  const ids = due.flatMap(({ checkoutSessionId }) => checkoutSessionId ?? []);
  return new Set((await ctx.sql<{ id: string }>(IN_FLIGHT, [ids])).map(({ id }) => id));
}

/** Reservations that are looked at in one transaction. */
const BATCH = 200;

/** Reservations whose time is over: extended while money may still arrive, at most to 8 days after they were made, else given back. */
export async function endReservations(ctx: Context, at: Date): Promise<void> {
  const where = { status: PromoHoldStatus.RESERVED, expiresAt: { $lte: at } };
  const due = await ctx.em.find(PromoRedemption, where, {
    lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
    orderBy: { promoId: 'asc' },
    limit: BATCH,
  });
  const running = await inFlight(ctx, due);
  for (const one of due) {
    const last = after(one.createdAt, MOST_MS);
    if (running.has(one.checkoutSessionId ?? '') && at < last)
      one.expiresAt = new Date(Math.min(after(at, RESERVED_MS).getTime(), last.getTime()));
    else await giveBack(ctx, one, 'release', { reserved: -1, redeemed: 0 });
  }
}
