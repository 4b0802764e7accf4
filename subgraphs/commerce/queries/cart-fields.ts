import type { Context } from '../../../runtime/request/context.js';
import { loadRow } from '../../../runtime/data/rows.js';
import type { Cart, CartItem, CartTotals, ShippingOption } from '../entities/cart.js';
import { Product, ProductVariant } from '../entities/product.js';
import { cadenceFrom } from '../rules/cadence.js';
import { pricedCart } from './priced-cart.js';

/** The lines of a cart as they are shown. */
export async function shownItems(ctx: Context, cart: Cart): Promise<CartItem[]> {
  const { lines, problems } = await pricedCart(ctx, cart);
  const money = (amount: number) => ({ amount, currency: cart.currency });
  return Promise.all(
    lines.map(async line => ({
      id: line.id,
      product: (await loadRow(ctx, Product, 'id', line.productId))!,
      variant: (await loadRow(ctx, ProductVariant, 'id', line.variantId))!,
      quantity: line.quantity,
      unitPrice: line.unitPrice === null ? null : money(line.unitPrice),
      compareAt: line.compareAt === null ? null : money(line.compareAt),
      unitPriceWhenAdded: money(line.unitPriceWhenAdded),
      subtotal: money(line.subtotal),
      discount: money(line.discount),
      tax: money(line.tax),
      total: money(line.total),
      cadence: cadenceFrom(line.cadence),
      reserved: line.reserved,
      problems: problems.filter(one => one.itemId === line.id),
    })),
  );
}

export async function shownTotals(ctx: Context, cart: Cart): Promise<CartTotals> {
  const { totals } = await pricedCart(ctx, cart);
  const money = (amount: number) => ({ amount, currency: cart.currency });
  return {
    subtotal: money(totals.subtotal),
    discount: money(totals.discount),
    shipping: money(totals.shipping),
    tax: money(totals.tax),
    total: money(totals.total),
    taxIncluded: totals.taxIncluded,
    estimated: totals.estimated,
  };
}

export async function shownOptions(ctx: Context, cart: Cart): Promise<ShippingOption[]> {
  const { options } = await pricedCart(ctx, cart);
  return options.map(one => ({ ...one, amount: { amount: one.amount, currency: cart.currency } }));
}

/** The earliest end of what is held for it. */
export async function reservedUntil(ctx: Context, cart: Cart): Promise<Date | null> {
  const ends = (await pricedCart(ctx, cart)).lines.flatMap(one => (one.reservedUntil ? [one.reservedUntil.getTime()] : []));
  return ends.length > 0 ? new Date(Math.min(...ends)) : null;
}
