import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { SwapScope } from '../entities/enums.js';
import type { ProductSubscription } from '../entities/subscription.js';
import type { SubscriptionPriceChangeInput, SwapProductSubscriptionItemInput } from '../inputs/subscription.js';
import { linesOn, subscriptionItems, type ItemRow } from '../queries/subscription.js';
import { demandOf, summed } from '../queries/stock.js';
import { addDays } from '../rules/cadence.js';
import { shortageOf } from './stock.js';
import { lockSubscription, openCycleOf, touchSubscription } from './subscription-cycle.js';
import { conflict, requireActive, requireEditable, requireLiving, today } from './subscription-guards.js';
import { offersOf } from './subscription-offer.js';

/** Days by which a price is announced. Source: commerce 7.20. */
const ANNOUNCED_DAYS = 14;

/** The line that is meant. @throws Problem not_found, invalid_request. */
async function meantItem(
  ctx: Context,
  subscriptionId: string,
  { itemId, fromVariantId }: SwapProductSubscriptionItemInput,
): Promise<ItemRow> {
  if ((itemId == null) === (fromVariantId == null)) invalid('/input/itemId', 'exactly one of itemId and fromVariantId is required');
  const items = await subscriptionItems(ctx, [subscriptionId]);
  const found = items.find(one => (itemId != null ? one.id === itemId.toLowerCase() : one.variantId === fromVariantId!.toLowerCase()));
  return found ?? fail('not_found', 'No such line');
}

async function requireStock(ctx: Context, variantId: string, quantity: number): Promise<void> {
  const demand = summed(await demandOf(ctx, [{ variantId, quantity }]));
  if (await shortageOf(ctx, demand)) conflict('out_of_stock', 'There is not enough in stock');
}

const REPLACE = `
update commerce.product_subscription_item set variant_id = $2, quantity = $3, unit_price = $4, discount_bps = $5, pending_amount = null, pending_from = null
where id = $1`;

/** @throws Problem not_found, conflict `offer_not_available`, `cutoff_passed`, `out_of_stock`; invalid_request. */
export async function swapItem(ctx: Context, input: SwapProductSubscriptionItemInput): Promise<ProductSubscription> {
  const subscription = await lockSubscription(ctx, input.id);
  requireLiving(subscription);
  const isOnce = input.applyTo === SwapScope.NEXT_ONLY;
  if (isOnce) requireActive(subscription);
  const cycle = await openCycleOf(ctx, subscription.id);
  if (cycle) requireEditable(ctx, subscription, cycle);
  const item = await meantItem(ctx, subscription.id, input);
  const { brandId, currency, country, cadence } = subscription;
  const [offer] = await offersOf(ctx, [input.toVariantId], { brandId, currency, country, cadence });
  const { unitPrice, discountBps, offered } = offer!;
  const line = { variantId: offered.variantId, quantity: input.quantity ?? item.quantity, unitPrice, discountBps };
  await requireStock(ctx, line.variantId, line.quantity);
  if (cycle && (isOnce || cycle.items)) {
    const lines = linesOn(await subscriptionItems(ctx, [subscription.id]), cycle.orderOn, cycle.items);
    cycle.items = lines.map(one => (one.itemId === item.id ? { itemId: item.id, ...line } : one));
  }
  if (!isOnce) await ctx.sql(REPLACE, [item.id, line.variantId, line.quantity, unitPrice, discountBps]);
  touchSubscription(ctx, subscription);
  ctx.audit('product_subscription.swapped', subscription.id, { item: item.id, to: line.variantId, once: isOnce });
  return subscription;
}

/** Announces a price; orders from its day on cost it. @throws Problem not_found, conflict, invalid_request. */
export async function schedulePriceChange(
  ctx: Context,
  { id, itemId, amount, effectiveOn }: SubscriptionPriceChangeInput,
): Promise<ProductSubscription> {
  const subscription = await lockSubscription(ctx, id, {}); // staff for orders, or a service
  requireLiving(subscription);
  if (amount.currency !== subscription.currency) invalid('/input/amount/currency', `must be ${subscription.currency}`);
  if (amount.amount < 0) invalid('/input/amount/amount', 'must be at least 0');
  if (effectiveOn < addDays(today(ctx, subscription), ANNOUNCED_DAYS))
    invalid('/input/effectiveOn', `must be at least ${ANNOUNCED_DAYS} days from now`);
  const text = `update commerce.product_subscription_item set pending_amount = $3, pending_from = $4 where id = $2 and subscription_id = $1 returning id`;
  const changed = await ctx.sql(text, [subscription.id, itemId.toLowerCase(), amount.amount, effectiveOn]);
  if (changed.length === 0) fail('not_found', 'No such line');
  touchSubscription(ctx, subscription);
  ctx.audit('product_subscription.price_announced', subscription.id, { item: itemId, amount: amount.amount, from: effectiveOn });
  return subscription;
}
