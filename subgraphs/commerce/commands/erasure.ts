import { randomUUID } from 'node:crypto';
import { subscriptionCancelled } from '../../../events/catalogue/payments.js';
import type { Context } from '../../../runtime/request/context.js';
import { Cart } from '../entities/cart.js';
import { CartStatus, CommerceErasureStatus, OrderStatus, ProductSubscriptionStatus } from '../entities/enums.js';
import { Order } from '../entities/order.js';
import { ProductSubscription } from '../entities/subscription.js';
import { CommerceErasure, CommerceErasureCounts } from '../entities/sync.js';
import { drop, lockStock } from './stock.js';

const HELD = 'select distinct variant_id as id from commerce.stock_reservation where order_id = any($1) or cart_id = any($2)';

/** Locks a user's orders and carts, then drops what they hold: in the order in which everybody locks. */
async function dropHeld(ctx: Context, userId: string): Promise<void> {
  const idsOf = async (table: string): Promise<string[]> =>
    (await ctx.sql<{ id: string }>(`select id from commerce.${table} where user_id = $1 order by id for update`, [userId])).map(
      ({ id }) => id,
    );
  const [orders, carts] = [await idsOf('shop_order'), await idsOf('cart')];
  const held = await ctx.sql<{ id: string }>(HELD, [orders, carts]);
  await lockStock(
    ctx,
    held.map(one => one.id),
  );
  await drop(ctx, 'order_id', orders);
  await drop(ctx, 'cart_id', carts);
}

/** A member's open carts are abandoned; all forget where to. */
async function eraseCarts(ctx: Context, userId: string): Promise<number> {
  const carts = await ctx.em.find(Cart, { userId });
  for (const cart of carts) {
    if (cart.status === CartStatus.ACTIVE || cart.status === CartStatus.CHECKING_OUT) cart.status = CartStatus.ABANDONED;
    Object.assign(cart, { personal: null, userId: null, promoCode: null, updatedAt: ctx.now(), version: cart.version + 1 });
  }
  await ctx.em.flush();
  await ctx.sql('delete from commerce.cart_item where cart_id = any($1)', [carts.map(one => one.id)]);
  return carts.length;
}

const UNPAID: readonly OrderStatus[] = [OrderStatus.PENDING_PAYMENT, OrderStatus.EXPIRED, OrderStatus.PAYMENT_FAILED];

/** Orders keep amounts, lines and taxes, by law; whose they were goes. Unpaid ones go altogether. */
async function eraseOrders(ctx: Context, userId: string): Promise<number> {
  const orders = await ctx.em.find(Order, { userId });
  const pseudonym = randomUUID();
  for (const order of orders) {
    if (UNPAID.includes(order.status)) ctx.em.remove(order);
    else Object.assign(order, { userId: pseudonym, isErased: true, personal: null, updatedAt: ctx.now(), version: order.version + 1 });
  }
  await ctx.em.flush();
  await ctx.sql('update commerce.order_fulfillment set tracking_number = null, tracking_url = null where order_id = any($1)', [
    orders.map(one => one.id),
  ]);
  return orders.length;
}

async function eraseSubscriptions(ctx: Context, userId: string): Promise<number> {
  const rows = await ctx.em.find(ProductSubscription, { userId });
  const pseudonym = randomUUID();
  for (const one of rows) {
    if (one.status !== ProductSubscriptionStatus.CANCELLED)
      ctx.emit(subscriptionCancelled, { kind: 'product', subscription_id: one.id, reason: 'erasure' }, { userId, brandId: one.brandId });
    const forgotten = {
      status: ProductSubscriptionStatus.CANCELLED,
      userId: pseudonym,
      personal: null,
      cancelReason: null,
      cancelComment: null,
      nextOrderOn: null,
    };
    Object.assign(one, { ...forgotten, updatedAt: ctx.now(), version: one.version + 1 });
  }
  await ctx.em.flush();
  const open = `update commerce.scheduled_order set status = 'cancelled', next_attempt_at = null where subscription_id = any($1) and status in ('scheduled', 'processing')`;
  await ctx.sql(open, [rows.map(one => one.id)]);
  return rows.length;
}

const rows = async (ctx: Context, text: string, userId: string): Promise<number> => (await ctx.sql(text, [userId])).length;

/** Forgets a user; a second run changes nothing. @returns what was changed. Source: commerce 7.23. */
export async function forgetUser(ctx: Context, userId: string): Promise<CommerceErasureCounts> {
  await dropHeld(ctx, userId);
  const counts = Object.assign(new CommerceErasureCounts(), {
    carts: await eraseCarts(ctx, userId),
    orders: await eraseOrders(ctx, userId),
    subscriptions: await eraseSubscriptions(ctx, userId),
    links: await rows(
      ctx,
      `delete from commerce.storefront_link where entity_type in ('customer', 'customer_group') and entity_id = $1 returning id`,
      userId,
    ),
  });
  await rows(ctx, 'delete from commerce.stock_notice where user_id = $1 returning id', userId);
  await rows(ctx, 'delete from commerce.embedded_grant where user_id = $1 returning user_id', userId);
  return counts;
}

/** Until the end of the transaction nobody else forgets a user, or links them with somebody of the storefront. */
export const lockUser = async (ctx: Context, userId: string): Promise<void> =>
  void (await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 45))', [userId]));

/** Whether a user was forgotten, who is locked then: what is written about them has to know. */
export async function isForgotten(ctx: Context, userId: string): Promise<boolean> {
  await lockUser(ctx, userId);
  return (await ctx.em.count(CommerceErasure, { userId })) > 0;
}

/** The one record of a user's erasure; a repeat finds it. */
export async function recordErasure(
  ctx: Context,
  userId: string,
  requestId: string | null,
  counts: CommerceErasureCounts,
): Promise<CommerceErasure> {
  const known = await ctx.em.findOne(CommerceErasure, { userId });
  if (known) return known;
  const times = { createdAt: ctx.now(), completedAt: ctx.now() };
  const record = Object.assign(new CommerceErasure(), {
    userId,
    erasureRequestId: requestId,
    status: CommerceErasureStatus.COMPLETED,
    counts,
    ...times,
  });
  await ctx.em.persist(record).flush();
  return record;
}

/** Customers of the storefront that stand for a user, to be erased there first. */
export const customersOf = (ctx: Context, userId: string): Promise<{ system: string; externalId: string }[]> =>
  ctx.sql(`select system, external_id as "externalId" from commerce.storefront_link where entity_type = 'customer' and entity_id = $1`, [
    userId,
  ]);
