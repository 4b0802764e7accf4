import type { Context } from '../../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../../runtime/request/errors.js';
import { preparation } from '../../../../runtime/request/operation.js';
import { BillingPrice } from '../../entities/price.js';
import type { CreateCheckoutInput } from '../../inputs/checkout.js';
import type { BrandTerms } from '../../ports/brand-terms.js';
import { orderOf, type Order } from '../../ports/orders.js';
import { checkoutViolations } from '../../rules/checkout-input.js';
import { redirectFault } from '../../rules/redirect.js';
import { buyerTerms, type BuyerFacts } from '../buyer.js';

/** What a checkout must know before its transaction: who buys where, what it costs, and where it may lead. */
export interface CheckoutFacts extends BuyerFacts {
  /** By id. */
  prices: ReadonlyMap<string, BillingPrice>;
  order: Order | null;
  terms: BrandTerms;
}

type Asked = { input: CreateCheckoutInput };

/** The prices that are bought. @throws Problem invalid_request for one that is unknown or not sold. */
async function pricesOf(ctx: Context, items: CreateCheckoutInput['items']): Promise<ReadonlyMap<string, BillingPrice>> {
  if (!items) return new Map();
  const found = await ctx.em.find(BillingPrice, { id: { $in: items.map(({ priceId }) => priceId.toLowerCase()) }, active: true });
  const prices = new Map(found.map(price => [price.id, price]));
  const missing = items.flatMap(({ priceId }, index) => (prices.has(priceId.toLowerCase()) ? [] : [index]));
  requireValid(missing.map(index => ({ pointer: `/input/items/${index}/priceId`, message: 'is no price that is sold' })));
  return prices;
}

/** An order of the buyer. @throws Problem not_found for another's; unavailable while commerce cannot be asked. */
async function orderFor(ctx: Context, orderId: string | null | undefined, userId: string): Promise<Order | null> {
  if (orderId == null) return null;
  const order = await orderOf(ctx, orderId.toLowerCase());
  if (!order || order.userId !== userId) fail('not_found', 'No such order');
  return order;
}

function requireRedirects({ returnUrl, cancelUrl }: CreateCheckoutInput, ctx: Context, { brand, redirectUris }: BuyerFacts): void {
  const allowed = { hosts: brand.hosts, redirectUris, production: ctx.host.config.production };
  const faults = Object.entries({ returnUrl, cancelUrl }).flatMap(([name, url]) => {
    const message = url == null ? null : redirectFault(url, allowed);
    return message === null ? [] : [{ pointer: `/input/${name}`, message }];
  });
  requireValid(faults);
}

const sameBrand = (prices: ReadonlyMap<string, BillingPrice>): string | null => {
  const brands = new Set([...prices.values()].map(({ brandId }) => brandId));
  if (brands.size > 1) invalid('/input/items', 'the prices are of different brands');
  return [...brands][0] ?? null;
};

/** Whether the caller is trusted with amounts: services, and staff who act as one. */
const isService = ({ caller }: Context): boolean => caller.kind === 'service';

/** @throws Problem invalid_request, not_found or unavailable. */
export const checkoutFacts = preparation(async (ctx: Context, { input }: Asked): Promise<CheckoutFacts> => {
  const userId = ctx.subject(input.userId).toLowerCase();
  requireValid(checkoutViolations(input, isService(ctx)));
  const prices = await pricesOf(ctx, input.items);
  const order = await orderFor(ctx, input.orderId, userId);
  const places = (input.returnUrl ?? input.cancelUrl) != null;
  const buyer = await buyerTerms(ctx, { userId, brandId: order?.brandId ?? sameBrand(prices), places });
  requireRedirects(input, ctx, buyer);
  return { ...buyer, prices, order };
});
