import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import { ProductStatus } from '../entities/enums.js';
import { offeredVariants, type Market, type Offered } from '../queries/cart-lines.js';
import { sameCadence, type CadenceOf } from '../rules/cadence.js';

/** A variant as it can be had again and again: its price before discount, and the discount of the cadence. */
export interface OfferedAgain {
  offered: Offered;
  unitPrice: number;
  discountBps: number;
}

const refuse = (): never => fail('conflict', 'It is not offered in this rhythm', { reason: 'offer_not_available' });

/** @throws Problem conflict `offer_not_available`: not sold in the market, by another brand, or not in this cadence. */
export function offerOf(offered: Offered | undefined, brandId: string, cadence: CadenceOf): OfferedAgain {
  if (offered?.brandId !== brandId || offered.status !== ProductStatus.ACTIVE || offered.amount === null) return refuse();
  const offer = offered.offers.find(one => sameCadence(one.cadence as CadenceOf, cadence));
  return offer ? { offered, unitPrice: offered.amount, discountBps: offer.discountBps } : refuse();
}

/** Offers of several variants, in their order. @throws Problem conflict `offer_not_available`. */
export async function offersOf(
  ctx: Context,
  variantIds: readonly string[],
  { brandId, cadence, ...market }: Market & { brandId: string; cadence: CadenceOf },
): Promise<OfferedAgain[]> {
  const ids = variantIds.map(id => id.toLowerCase());
  const found = await offeredVariants(ctx, ids, market);
  return ids.map(id => offerOf(found.get(id), brandId, cadence));
}

/** A line that is to come again and again; minor units. */
export interface SubscribedLine {
  variantId: string;
  quantity: number;
  unitPrice: number;
  discountBps: number;
}

const ITEM = `
insert into commerce.product_subscription_item (id, subscription_id, position, variant_id, quantity, unit_price, discount_bps) values ($1, $2, $3, $4, $5, $6, $7)`;

export async function writeSubscriptionItems(ctx: Context, subscriptionId: string, lines: readonly SubscribedLine[]): Promise<void> {
  await ctx.em.flush();
  for (const [position, { variantId, quantity, unitPrice, discountBps }] of lines.entries())
    await ctx.sql(ITEM, [newId(), subscriptionId, position, variantId, quantity, unitPrice, discountBps]);
}
