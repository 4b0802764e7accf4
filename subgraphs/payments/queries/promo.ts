import { raw } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { BillingCustomer } from '../entities/customer.js';
import { PromoHoldStatus } from '../entities/enums-offers.js';
import { Promo, PromoRedemption } from '../entities/promo.js';
import { PromosArgs } from '../inputs/promo.js';
import { normalizedCode, refusalOf, type PromoLine, type PromoQuestion } from '../rules/promo.js';

/** Promos, newest first. */
export function promosPage(ctx: Context, { status, code, ...paging }: PromosArgs): Promise<Connection<Promo>> {
  const where = { ...(status && { status }), ...(code && { code: code.trim().toUpperCase() }) };
  return page(ctx.em, Promo, where, paging, { time: 'createdAt' });
}

/** The promo of a typed code; null for another brand's, too. */
export async function promoOf(ctx: Context, brandId: string, typed: string): Promise<Promo | null> {
  const code = normalizedCode(typed);
  if (code === null) return null;
  return ctx.em.findOne(Promo, { brandId, [raw('lower(code)')]: code.toLowerCase() });
}

/** What takes part in a decision about a code, apart from the code. */
export interface PromoCase {
  /** Null: nobody yet, who has used nothing. */
  userId: string | null;
  brandId: string;
  currency: string;
  lines: readonly PromoLine[];
}

const COUNTED = { $in: [PromoHoldStatus.RESERVED, PromoHoldStatus.REDEEMED] };

/** Reservations and redemptions that a user has of a promo. */
export const usesOf = (ctx: Context, promoId: string, userId: string): Promise<number> =>
  ctx.em.count(PromoRedemption, { promoId, userId, status: COUNTED });

const hasPurchased = async (ctx: Context, userId: string, brandId: string): Promise<boolean> =>
  (await ctx.em.count(BillingCustomer, { userId, brandId, firstPaidAt: { $ne: null } })) > 0;

/** What is known about the user of a promo, for its rules. */
export async function questionOf(ctx: Context, promo: Promo | null, { userId, ...asked }: PromoCase): Promise<PromoQuestion> {
  const about = promo !== null && userId !== null ? { promo, userId } : null;
  return {
    ...asked,
    usedByUser: about ? await usesOf(ctx, about.promo.id, about.userId) : 0,
    hasPurchased: about?.promo.firstPurchaseOnly ? await hasPurchased(ctx, about.userId, asked.brandId) : false,
    at: ctx.now(),
  };
}

/** Why a promo is refused now, null when it is good. */
export const refusalNow = async (ctx: Context, promo: Promo | null, asked: PromoCase) =>
  refusalOf(promo, await questionOf(ctx, promo, asked));
