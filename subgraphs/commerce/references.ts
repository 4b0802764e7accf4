import { inOrder } from '../../runtime/data/loaders.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import { rowsBy } from '../../runtime/data/rows.js';
import type { Context } from '../../runtime/request/context.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { mayAccess, ruleOf } from '../../runtime/access/access.js';
import { isCommerce } from './commands/cart-access.js';
import { ORDER_READERS, SUBSCRIPTION_READERS } from './entities/access.js';
import { Cart } from './entities/cart.js';
import { ProductStatus } from './entities/enums.js';
import { Order } from './entities/order.js';
import { Product, ProductVariant } from './entities/product.js';
import { ProductSubscription } from './entities/subscription.js';
import { ownRows } from './queries/order.js';
import { isEditor } from './queries/product.js';

const NOBODY = '00000000-0000-0000-0000-000000000000';
const shownStatus = (ctx: Context) => (isEditor(ctx) ? {} : { status: { $ne: ProductStatus.DRAFT } });

/** By id, or by brand and slug. */
const products: ReferenceLoader = async (ctx, references: readonly { id?: string; brandId?: string; slug?: string }[]) => {
  const byId = await rowsBy(
    ctx,
    Product,
    'id',
    references.map(one => one.id ?? NOBODY),
    shownStatus(ctx),
  );
  const named = references.filter(one => one.id === undefined && one.slug !== undefined);
  const bySlug = named.length === 0 ? [] : await ctx.em.find(Product, { slug: { $in: named.map(one => one.slug!) }, ...shownStatus(ctx) });
  return references.map((one, index) => byId[index] ?? bySlug.find(row => row.slug === one.slug && row.brandId === one.brandId) ?? null);
};

/** By id, or by sku. */
const variants: ReferenceLoader = async (ctx, references: readonly { id?: string; sku?: string }[]) => {
  const byId = await rowsBy(
    ctx,
    ProductVariant,
    'id',
    references.map(one => one.id ?? NOBODY),
  );
  const skus = references.map(one => one.sku ?? '');
  const bySku = skus.every(one => one === '') ? [] : await ctx.em.find(ProductVariant, { sku: { $in: skus } });
  return references.map((_, index) => byId[index] ?? bySku.find(row => row.sku === skus[index]) ?? null);
};

/** By id, or by number; the own ones. */
const orders: ReferenceLoader = async (ctx, references: readonly { id?: string; number?: string }[]) => {
  if (!mayAccess(ruleOf(ORDER_READERS), ctx.caller)) return references.map(() => null);
  const byId = await rowsBy(
    ctx,
    Order,
    'id',
    references.map(one => one.id ?? NOBODY),
    ownRows(ctx),
  );
  const numbers = references.map(one => one.number ?? '');
  const byNumber = numbers.every(one => one === '')
    ? []
    : inOrder(numbers, await ctx.em.find(Order, { number: { $in: numbers }, ...ownRows(ctx) }), one => one.number);
  return references.map((_, index) => byId[index] ?? byNumber[index] ?? null);
};

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  Product: products,
  ProductVariant: variants,
  Order: orders,
  OrderItemLot: (_ctx, asked: readonly { sku: string; lotNumber: string }[]) =>
    Promise.resolve(asked.map(({ sku, lotNumber }) => ({ sku, lotNumber, expiresOn: null, quantity: null }))),
  Cart: rowReferences(Cart, { where: ctx => (isCommerce(ctx) ? {} : { userId: ctx.caller.userId ?? NOBODY }) }),
  ProductSubscription: rowReferences(ProductSubscription, {
    readers: SUBSCRIPTION_READERS,
    where: ctx => (isCommerce(ctx) ? {} : { userId: ctx.caller.userId ?? NOBODY }),
  }),
  User: stubReferences,
  Brand: stubReferences,
};
