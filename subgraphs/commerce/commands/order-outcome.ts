import { orderPlaced } from '../../../events/catalogue/commerce.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { Cart } from '../entities/cart.js';
import { CartStatus, OrderCancelReason, OrderPaymentStatus, OrderSource, OrderStatus, PurchaseRequirement } from '../entities/enums.js';
import type { Order } from '../entities/order.js';
import { itemRows, type ItemRow } from '../queries/order.js';
import { ORDER_STATES, paymentStatusOf, settlementOf } from '../rules/order.js';
import { allocateOrder, releaseOrder } from './allocation.js';
import { lockCartOf, reopenCart } from './cart.js';
import { touchOrder } from './order-row.js';
import { leaveTask } from './payment-task.js';
import { scheduledOrderExpired, scheduledOrderLost, scheduledOrderPlaced } from './scheduled-outcome.js';
import { release } from './stock.js';
import { subscribeToOrder } from './subscription-create.js';

const { PENDING_PAYMENT } = OrderStatus;

/** The promo of an order goes back, or is used up. */
async function endPromo(ctx: Context, order: Order, kind: 'commit' | 'release'): Promise<void> {
  if (order.promoCode !== null && order.promoHeld) await leaveTask(ctx, order, { kind, key: `order:${order.id}:${kind}` });
}

const FIRST = `select not exists (select 1 from commerce.shop_order where user_id = $1 and id <> $2 and placed_at is not null) as first`;

/** Says that an order counts. `items` is cut at 100. Source: commerce 5. */
async function emitPlaced(ctx: Context, order: Order, items: readonly ItemRow[]): Promise<void> {
  const [row] = order.userId === null ? [] : await ctx.sql<{ first: boolean }>(FIRST, [order.userId, order.id]);
  const data = {
    order_id: order.id,
    order_number: order.number,
    brand_id: order.brandId,
    source: order.source,
    currency: order.currency,
    subtotal_amount: order.subtotal,
    discount_amount: order.discount,
    shipping_amount: order.shipping,
    tax_amount: order.tax,
    total_amount: order.total,
    item_count: items.reduce((sum, one) => sum + one.quantity, 0),
    items: items
      .slice(0, 100)
      .map(one => ({ product_id: one.productId, variant_id: one.variantId, quantity: one.quantity, total_amount: one.total })),
    promo_id: order.promoId,
    affiliate_code: order.affiliateCode,
    subscription_id: order.subscriptionId,
    first_order: row?.first ?? false,
    placed_at: order.placedAt!.toISOString(),
  };
  ctx.emit(orderPlaced, data, { userId: order.userId, brandId: order.brandId, ...(order.userId === null && { subject: order.id }) });
}

/** Makes an order count: its cart is done, its promo used up, what needs a pharmacy goes there. */
async function place(ctx: Context, order: Order, items: readonly ItemRow[]): Promise<void> {
  const isRevived = order.status !== PENDING_PAYMENT;
  order.status = move(ORDER_STATES, 'order', order.status, 'place');
  order.placedAt = ctx.now();
  order.expiresAt = null;
  touchOrder(ctx, order);
  await endPromo(ctx, order, 'commit');
  if (items.some(one => one.requirement === PurchaseRequirement.PRESCRIPTION))
    await leaveTask(ctx, order, { kind: 'submit', key: `order:${order.id}:submit` });
  if (order.cartId !== null) await completeCart(ctx, order.cartId, order.id);
  if (order.scheduledOrderId !== null) await scheduledOrderPlaced(ctx, order.scheduledOrderId);
  await subscribeToOrder(ctx, order, items);
  ctx.audit(isRevived ? 'order.revived' : 'order.placed', order.id, { total: order.total, currency: order.currency, source: order.source });
  await emitPlaced(ctx, order, items);
}

async function completeCart(ctx: Context, cartId: string, orderId: string): Promise<void> {
  await ctx.em.flush();
  const cart = await ctx.em.findOne(Cart, { id: cartId }, { refresh: true });
  if (cart?.status !== CartStatus.CHECKING_OUT || cart.orderId !== orderId) return;
  Object.assign(cart, { status: CartStatus.COMPLETED, updatedAt: ctx.now(), version: cart.version + 1 });
}

/** Gives back all that was paid for an order. */
export const refundAll = (ctx: Context, order: Order, why: string): Promise<void> =>
  leaveTask(ctx, order, { kind: 'refund', key: `order:${order.id}:${why}`, reason: 'REQUESTED_BY_CUSTOMER' });

/** What is paid cannot be delivered: cancelled, and all of it goes back. */
async function lose(ctx: Context, order: Order): Promise<void> {
  const isLate = order.status !== PENDING_PAYMENT;
  order.status = move(ORDER_STATES, 'order', order.status, 'lose');
  Object.assign(order, {
    cancelledAt: ctx.now(),
    expiresAt: null,
    cancelReason: isLate ? OrderCancelReason.LATE_PAYMENT : OrderCancelReason.INVENTORY,
  });
  touchOrder(ctx, order);
  if (order.total > 0) await refundAll(ctx, order, 'lost');
  await endPromo(ctx, order, 'release');
  if (order.scheduledOrderId !== null) await scheduledOrderLost(ctx, order.scheduledOrderId, 'out_of_stock');
  if (!isLate && order.cartId !== null) await reopenCart(ctx, order.cartId);
  ctx.audit('order.cancelled', order.id, { reason: order.cancelReason });
}

/**
 * An order is paid: it is placed where stock covers it, else cancelled and paid back; another amount than it costs is paid back with an
 * alert. Again: nothing. The caller has locked it. Source: commerce 3.
 */
export async function settleOrder(ctx: Context, order: Order, paid: { amount: number; currency: string }): Promise<void> {
  const verdict = settlementOf(order, paid);
  if (verdict === 'known') return;
  if (verdict === 'mismatch') {
    ctx.log.error({ order: order.id }, 'an order was paid with another amount than it costs');
    ctx.audit('order.payment_mismatch', order.id, { expected: order.total, paid: paid.amount, currency: paid.currency });
    return refundAll(ctx, order, `mismatch:${paid.amount}:${paid.currency}`);
  }
  Object.assign(order, { settled: paid.amount, paymentStatus: OrderPaymentStatus.PAID });
  const items = await itemRows(ctx, [order.id]);
  const shortage = await allocateOrder(
    ctx,
    order.id,
    items.map(({ id: itemId, demand }) => ({ itemId, demand })),
  );
  if (shortage) await lose(ctx, order);
  else await place(ctx, order, items);
}

/** An order that a channel has sold and been paid for: allocated even below zero. Source: commerce 3. */
export async function placeChannelOrder(ctx: Context, order: Order): Promise<void> {
  const items = await itemRows(ctx, [order.id]);
  const shortage = await allocateOrder(
    ctx,
    order.id,
    items.map(({ id: itemId, demand }) => ({ itemId, demand })),
    true,
  );
  order.isOversold = shortage !== null;
  await place(ctx, order, items);
}

/** What an order holds goes back: reservations, promo, checkout; its cart is open again. */
async function letGo(ctx: Context, order: Order): Promise<void> {
  if (order.cartId !== null) await lockCartOf(ctx, order.cartId);
  await release(ctx, 'order_id', [order.id]);
  await endPromo(ctx, order, 'release');
  await leaveTask(ctx, order, { kind: 'cancel', key: `order:${order.id}:cancel` });
  if (order.cartId !== null) await reopenCart(ctx, order.cartId);
}

/** A payment was declined. A renewal's order waits for the next attempt. The caller has locked it. Source: commerce 3. */
export async function declineOrder(ctx: Context, order: Order): Promise<void> {
  if (order.status !== PENDING_PAYMENT || order.source === OrderSource.SUBSCRIPTION) return;
  order.status = move(ORDER_STATES, 'order', order.status, 'decline');
  Object.assign(order, { paymentStatus: OrderPaymentStatus.FAILED, expiresAt: null });
  touchOrder(ctx, order);
  await letGo(ctx, order);
  ctx.audit('order.payment_failed', order.id);
}

/** Nobody has paid in time. The caller has locked it. */
export async function expireOrder(ctx: Context, order: Order): Promise<void> {
  if (order.status !== PENDING_PAYMENT) return;
  order.status = move(ORDER_STATES, 'order', order.status, 'expire');
  order.expiresAt = null;
  touchOrder(ctx, order);
  await letGo(ctx, order);
  if (order.scheduledOrderId !== null) await scheduledOrderExpired(ctx, order.scheduledOrderId);
  ctx.audit('order.expired', order.id);
}

/** Gives up an order of which nothing was shipped: all that was paid goes back. The caller has locked it. @throws Problem conflict. */
export async function cancelPlaced(ctx: Context, order: Order, reason: OrderCancelReason): Promise<void> {
  order.status = move(ORDER_STATES, 'order', order.status, 'cancel');
  Object.assign(order, { cancelledAt: ctx.now(), cancelReason: reason });
  touchOrder(ctx, order);
  await releaseOrder(ctx, order.id);
  await ctx.sql('update commerce.order_item set cancelled = quantity where order_id = $1', [order.id]);
  if (order.paymentStatus !== OrderPaymentStatus.EXTERNAL && order.total > 0) await refundAll(ctx, order, 'given_up'); // `cancel` is the key of giving up its checkout
  await endPromo(ctx, order, 'release');
  ctx.audit('order.cancelled', order.id, { reason });
}

/** What of an order has gone back so far, as payments says; minor units. */
export function refundedOrder(ctx: Context, order: Order, refunded: number): void {
  order.refunded = refunded;
  order.paymentStatus = paymentStatusOf(order.paymentStatus, order.total, refunded);
  touchOrder(ctx, order);
}
