import { reachesAll } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { PROMO_VIEWERS } from '../entities/access.js';
import { PromoRefusal } from '../entities/enums-offers.js';
import { amountsOf } from '../entities/money.js';
import type { Promo } from '../entities/promo.js';
import type { PromoOffer, PromoValidation } from '../entities/promo-answer.js';
import type { ValidatePromoInput } from '../inputs/promo.js';
import { itemLines, promoLines } from '../queries/promo-lines.js';
import { promoOf, refusalNow, type PromoCase } from '../queries/promo.js';
import { discountOf } from '../rules/promo.js';
import { orderOf } from '../ports/orders.js';
import { takeLimitApart } from './rate-limit.js';

const isMember = ({ caller }: Context): boolean => !reachesAll(PROMO_VIEWERS, caller);

function requireOneForm({ items, orderId, lines }: ValidatePromoInput): void {
  if ([items, orderId, lines].filter(one => one != null).length !== 1)
    invalid('/input/items', 'exactly one of items, orderId and lines is required');
}

/** An order of commerce as a code sees it. */
interface OrderCase {
  userId: string;
  brandId: string;
  lines: NonNullable<ValidatePromoInput['lines']>;
}

/** @throws Problem not_found for another's order; unavailable while commerce cannot be asked. */
async function orderCase(ctx: Context, id: string): Promise<OrderCase> {
  const order = await orderOf(ctx, id.toLowerCase());
  if (!order?.userId || (isMember(ctx) && order.userId !== ctx.caller.userId)) fail('not_found', 'No such order');
  const line = ({ subjectId, quantity, subtotal }: (typeof order.lines)[number]) => ({
    subjectKind: PriceSubjectKind.PRODUCT_VARIANT,
    subjectId,
    quantity,
    subtotal: { amount: subtotal, currency: order.currency },
  });
  return { userId: order.userId, brandId: order.brandId, lines: order.lines.map(line) };
}

/** Counts the try, whatever comes of it, and asks for the order that is meant. @throws Problem invalid_request, rate_limited. */
export const promoTry = preparation(async (ctx: Context, { input }: { input: ValidatePromoInput }): Promise<OrderCase | null> => {
  await takeLimitApart(ctx, 'promo_validate', ctx.caller.userId);
  requireOneForm(input);
  return input.orderId == null ? null : orderCase(ctx, input.orderId);
});

/** What is asked about. */
async function caseOf(ctx: Context, input: ValidatePromoInput, order: OrderCase | null): Promise<PromoCase> {
  const userId = isMember(ctx) ? ctx.caller.userId : (input.userId?.toLowerCase() ?? null);
  if (input.items) return { userId, ...(await itemLines(ctx, input.items)) };
  if (order) return { userId: order.userId, brandId: order.brandId, ...promoLines(order.lines) };
  if (isMember(ctx)) fail('forbidden', 'Lines are for services: a user never names an amount');
  const brandId = input.brandId?.toLowerCase() ?? invalid('/input/brandId', 'is required for lines');
  return { userId, brandId, ...promoLines(input.lines!) };
}

const offerOf = ({ kind, percentBps, amountOff, trialDays, duration, durationPeriods }: Promo): PromoOffer => ({
  kind,
  percentBps,
  amountOff,
  trialDays,
  duration,
  durationPeriods,
});

function offered(promo: Promo, { lines, currency }: PromoCase): Pick<PromoValidation, 'promo' | 'amounts' | 'allocations'> {
  const { amount, allocations } = discountOf(promo, lines);
  const subtotalMinor = lines.reduce((sum, { subtotal }) => sum + subtotal, 0);
  const none = { taxMinor: 0, shippingMinor: 0, cashAppliedMinor: 0, creditAppliedMinor: 0 };
  return {
    promo: offerOf(promo),
    amounts: amountsOf({ currency, subtotalMinor, discountMinor: amount, totalMinor: subtotalMinor - amount, ...none }),
    allocations: allocations.map(one => ({ ...one, amount: { amount: one.amount, currency } })),
  };
}

/** What a code would do; a refused one is an answer, too. Reserves nothing. @throws Problem invalid_request. */
export async function validatePromo(ctx: Context, input: ValidatePromoInput): Promise<PromoValidation> {
  const asked = await caseOf(ctx, input, promoTry.of(ctx));
  const code = input.code.trim().toUpperCase();
  const promo = await promoOf(ctx, asked.brandId, input.code);
  const reason = await refusalNow(ctx, promo, asked);
  if (promo === null || reason !== null)
    return { valid: false, code, reason: reason ?? PromoRefusal.UNKNOWN, promo: null, amounts: null, allocations: [] };
  return { valid: true, code, reason: null, ...offered(promo, asked) };
}
