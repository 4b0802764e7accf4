import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { BillingPrice } from '../entities/price.js';
import type { PromoItemInput, PromoLineInput } from '../inputs/promo.js';
import type { PromoLine } from '../rules/promo.js';

/** Lines in one currency. */
export interface PricedLines {
  currency: string;
  lines: PromoLine[];
}

/** Lines of commerce, which have one currency and no prices of ours. @throws Problem invalid_request. */
export function promoLines(lines: readonly PromoLineInput[]): PricedLines {
  const { currency } = lines[0]!.subtotal;
  const other = lines.findIndex(({ subtotal }) => subtotal.currency !== currency);
  if (other >= 0) invalid(`/input/lines/${other}/subtotal/currency`, 'must be the same for all lines');
  const negative = lines.findIndex(({ subtotal }) => subtotal.amount < 0);
  if (negative >= 0) invalid(`/input/lines/${negative}/subtotal/amount`, 'must not be negative');
  const asked = lines.map(({ subjectKind, subjectId, subtotal }) => ({
    priceId: null,
    subjectKind,
    subjectId: subjectId.toLowerCase(),
    subtotal: subtotal.amount,
    recurring: false,
  }));
  return { currency, lines: asked };
}

/** Prices that may be bought, in the order of the items. @throws Problem invalid_request for one that does not exist or is not sold. */
async function pricesOf(ctx: Context, items: readonly PromoItemInput[]): Promise<BillingPrice[]> {
  const ids = items.map(({ priceId }) => priceId.toLowerCase());
  const known = new Map((await ctx.em.find(BillingPrice, { id: { $in: ids }, active: true })).map(price => [price.id, price]));
  return ids.map((id, index) => known.get(id) ?? invalid(`/input/items/${index}/priceId`, 'is no price that is sold'));
}

/** So much of a price. Products in BigInt. */
const lineOf = (price: BillingPrice, quantity: number): PromoLine => ({
  priceId: price.id,
  subjectKind: price.subjectKind,
  subjectId: price.subjectId,
  subtotal: Number(BigInt(price.unitAmountMinor) * BigInt(quantity)),
  recurring: price.interval !== null,
});

/** Lines of prices, of one brand and in one currency. @throws Problem invalid_request. */
export async function itemLines(ctx: Context, items: readonly PromoItemInput[]): Promise<PricedLines & { brandId: string }> {
  const prices = await pricesOf(ctx, items);
  const { brandId, currency } = prices[0]!;
  const other = prices.findIndex(price => price.brandId !== brandId || price.currency !== currency);
  if (other >= 0) invalid(`/input/items/${other}/priceId`, 'must be of the same brand and currency as the others');
  return { brandId, currency, lines: prices.map((price, index) => lineOf(price, items[index]!.quantity)) };
}
