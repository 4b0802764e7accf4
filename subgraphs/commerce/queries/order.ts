import type { FilterQuery } from '@mikro-orm/postgresql';
import { holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Order } from '../entities/order.js';
import type { OrderFulfillment, OrderItem } from '../entities/order-parts.js';
import type { OrdersArgs } from '../inputs/order.js';

const READ = ['admin:commerce:read', 'admin:commerce:order'];

export const seesAll = ({ caller }: Context): boolean =>
  caller.kind === 'system' ||
  (caller.kind === 'service' && caller.scopes.has('admin:commerce')) ||
  READ.some(one => holdsPermission(caller, one));

const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Belongs into the `where` beside the id: a member finds the own rows only. */
export const ownRows = (ctx: Context): { userId?: string } => (seesAll(ctx) ? {} : { userId: ctx.caller.userId ?? NOBODY });

export const orderById = (ctx: Context, id: string): Promise<Order | null> =>
  findRow(ctx, Order, { id: id.toLowerCase(), ...ownRows(ctx) });
export const orderByNumber = (ctx: Context, number: string): Promise<Order | null> => findRow(ctx, Order, { number, ...ownRows(ctx) });

const WITH_SKU = 'select distinct order_id as id from commerce.order_item where sku = $1';

/** Orders, newest first; what only staff may look for finds nothing for a member. */
export async function ordersPage(ctx: Context, { filter, ...args }: OrdersArgs): Promise<Connection<Order>> {
  const { status, source, placedFrom, placedTo, sku, userId, number, brandId } = filter ?? {};
  const where: Record<string, unknown> = { ...ownRows(ctx) };
  if (status != null) where.status = status;
  if (source != null) where.source = source;
  if (placedFrom != null || placedTo != null)
    where.placedAt = { ...(placedFrom && { $gte: placedFrom }), ...(placedTo && { $lt: placedTo }) };
  if (sku != null) where.id = { $in: (await ctx.sql<{ id: string }>(WITH_SKU, [sku])).map(one => one.id) };
  if (seesAll(ctx))
    Object.assign(
      where,
      userId != null && { userId: userId.toLowerCase() },
      number != null && { number },
      brandId != null && { brandId: brandId.toLowerCase() },
    );
  return page(ctx.em, Order, where as FilterQuery<Order>, args, { time: 'createdAt' });
}

/** A line as it is stored; amounts in minor units. */
export interface ItemRow {
  id: string;
  orderId: string;
  productId: string;
  variantId: string;
  sku: string;
  title: string;
  optionText: string | null;
  requirement: string;
  requiresShipping: boolean;
  quantity: number;
  unitPrice: number;
  subtotal: number;
  discount: number;
  tax: number;
  total: number;
  cadence: string;
  demand: Record<string, number>;
  fulfilled: number;
  cancelled: number;
  returned: number;
  refunded: number;
}

const ITEMS = `
select id, order_id as "orderId", product_id as "productId", variant_id as "variantId", sku, title, option_text as "optionText", requirement,
  requires_shipping as "requiresShipping", quantity, unit_price::float8 as "unitPrice", subtotal::float8 as subtotal, discount::float8 as discount,
  tax::float8 as tax, total::float8 as total, cadence, demand, fulfilled, cancelled, returned, refunded
from commerce.order_item where order_id = any($1) order by order_id, position`;

export const itemRows = (ctx: Context, orderIds: readonly string[]): Promise<ItemRow[]> => ctx.sql<ItemRow>(ITEMS, [orderIds]);

interface LotRow {
  itemId: string;
  sku: string;
  lotNumber: string;
  expiresOn: string | null;
  quantity: number;
}

const LOTS = `
select a.order_item_id as "itemId", v.sku, a.lot_number as "lotNumber", a.expires_on::text as "expiresOn", a.quantity
from commerce.order_item_lot a join commerce.product_variant v on v.id = a.variant_id where a.order_item_id = any($1) and a.lot_number is not null
order by a.order_item_id, a.id`;

/** Lines of orders with their lots: two statements, whatever their number. */
async function itemsOf(ctx: Context, orders: readonly { id: string; currency: string }[]): Promise<OrderItem[][]> {
  const rows = await itemRows(
    ctx,
    orders.map(one => one.id),
  );
  const lots = await ctx.sql<LotRow>(LOTS, [rows.map(one => one.id)]);
  return orders.map(({ id, currency }) => {
    const money = (amount: number) => ({ amount, currency });
    return rows
      .filter(row => row.orderId === id)
      .map(row => ({
        ...row,
        unitPrice: money(row.unitPrice),
        subtotal: money(row.subtotal),
        discount: money(row.discount),
        tax: money(row.tax),
        total: money(row.total),
        lots: lots.filter(one => one.itemId === row.id),
        fulfilledQuantity: row.fulfilled,
        cancelledQuantity: row.cancelled,
        returnedQuantity: row.returned,
        refundedQuantity: row.refunded,
      }));
  });
}

export const loadItems = async (ctx: Context, { id, currency }: Order): Promise<OrderItem[]> =>
  (await ctx.load('commerce.orderItems', { id, currency }, keys => itemsOf(ctx, keys as { id: string; currency: string }[]))) ?? [];

const FULFILLMENTS = `
select id, order_id as "orderId", status, provider, carrier, tracking_number as "trackingNumber", tracking_url as "trackingUrl", items,
  external_ref as "externalRef", (extract(epoch from created_at) * 1000)::float8 as "createdMs"
from commerce.order_fulfillment where order_id = any($1) order by created_at, id`;

export async function fulfillmentsOf(ctx: Context, orderIds: readonly string[]): Promise<(OrderFulfillment & { orderId: string })[]> {
  const rows = await ctx.sql<OrderFulfillment & { orderId: string; createdMs: number }>(FULFILLMENTS, [orderIds]);
  return rows.map(row => ({ ...row, createdAt: new Date(row.createdMs) }));
}

export const loadFulfillments = async (ctx: Context, orderId: string): Promise<OrderFulfillment[]> =>
  (await ctx.load('commerce.fulfillments', orderId, async ids => {
    const rows = await fulfillmentsOf(ctx, ids as string[]);
    return ids.map(id => rows.filter(one => one.orderId === id));
  })) ?? [];
