import type { Context } from '../../../runtime/request/context.js';
import { OrderCancelReason, OrderPaymentStatus, OrderStatus } from '../entities/enums.js';
import type { Order } from '../entities/order.js';
import { itemRows, type ItemRow } from '../queries/order.js';
import { allocateUnits, allocationsOf, unallocate } from './allocation.js';
import { cancelUnits, deriveFulfillment } from './order.js';
import { lockOrder, touchOrder } from './order-row.js';
import { leaveTask } from './payment-task.js';
import { lockJudged } from './stock.js';

/** Orders that one transaction settles: each takes some 20 statements, and a request waits for the first of them. */
const SETTLED_TOGETHER = 50;

const AFFECTED = `
select distinct i.order_id as "orderId" from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id
where a.lot_id = any($1) and a.quantity > a.shipped order by 1 limit ${SETTLED_TOGETHER + 1}`;

/** All that is allocated to orders. */
const BESIDES = `
select distinct a.variant_id as id from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id where i.order_id = any($1)`;

export interface Outcome {
  /** Units that other lots cover now. */
  moved: number;
  /** Units that no lot covers: they are paid back. */
  cancelled: number;
  /** Orders that lost units. */
  lost: string[];
}

/** What is allocated to a line beyond the units that are left of it goes back: the other parts of a bundle that is cancelled. */
async function releaseSurplus(ctx: Context, orderId: string, itemId: string): Promise<void> {
  const item = (await itemRows(ctx, [orderId])).find(row => row.id === itemId)!;
  const left = item.quantity - item.cancelled - item.fulfilled;
  const own = (await allocationsOf(ctx, orderId)).filter(one => one.itemId === itemId && one.quantity > one.shipped);
  for (const [variantId, needed] of Object.entries(item.demand)) {
    let kept = (needed / item.quantity) * left;
    for (const one of own.filter(part => part.variantId === variantId)) {
      const held = one.quantity - one.shipped;
      if (held > kept) await unallocate(ctx, one, held - kept, `order:${orderId}`);
      kept = Math.max(0, kept - held);
    }
  }
}

/** Cancels as many units of a line as cannot be whole any more. @returns their number. */
async function cancelMissing(
  ctx: Context,
  order: Order,
  itemId: string,
  missing: ReadonlyMap<string, number>,
  why: string,
): Promise<number> {
  const item = (await itemRows(ctx, [order.id])).find(row => row.id === itemId)!;
  const lacking = [...missing].map(([variantId, units]) => Math.ceil((units * item.quantity) / item.demand[variantId]!));
  const units = Math.min(item.quantity - item.fulfilled - item.cancelled, Math.max(...lacking));
  await cancelUnits(ctx, order, item, units, why);
  await releaseSurplus(ctx, order.id, itemId);
  return units;
}

/** Takes recalled lots out of what is allocated to an order. @returns units moved to other lots, and those that no lot covers by line and variant. */
async function reallocate(ctx: Context, orderId: string, parts: Awaited<ReturnType<typeof allocationsOf>>) {
  const missing = new Map<string, Map<string, number>>();
  let moved = 0;
  for (const one of parts.filter(part => part.quantity > part.shipped)) {
    const quantity = one.quantity - one.shipped;
    await unallocate(ctx, one, quantity, `order:${orderId}`);
    const lacking = await allocateUnits(ctx, one.itemId, one.variantId, quantity, `order:${orderId}`);
    moved += quantity - lacking;
    const ofItem = missing.get(one.itemId) ?? new Map<string, number>();
    if (lacking > 0) missing.set(one.itemId, ofItem.set(one.variantId, (ofItem.get(one.variantId) ?? 0) + lacking));
  }
  return { moved, missing };
}

/** Takes a recalled lot out of an order: other lots cover what they can, the rest is cancelled and paid back. */
async function settleOrderOf(ctx: Context, orderId: string, lotIds: readonly string[]): Promise<{ moved: number; cancelled: number }> {
  const order = await lockOrder(ctx, orderId);
  const own = (await allocationsOf(ctx, orderId)).filter(one => one.lotId !== null && lotIds.includes(one.lotId));
  const { moved, missing } = await reallocate(ctx, orderId, own);
  let cancelled = 0;
  for (const [itemId, units] of missing) cancelled += await cancelMissing(ctx, order, itemId, units, `recall:${lotIds[0]}`);
  if (order.status === OrderStatus.PLACED) await deriveFulfillment(ctx, order);
  const items = await itemRows(ctx, [orderId]);
  if (order.status === OrderStatus.PLACED && items.every(one => one.cancelled === one.quantity)) {
    Object.assign(order, { status: OrderStatus.CANCELLED, cancelledAt: ctx.now(), cancelReason: OrderCancelReason.RECALL });
    touchOrder(ctx, order);
    await refundRest(ctx, order, items);
  }
  return { moved, cancelled };
}

/** What was paid beside the lines: their way to the buyer. */
async function refundRest(ctx: Context, order: Order, items: readonly ItemRow[]): Promise<void> {
  const amount = order.total - items.reduce((sum, one) => sum + one.total, 0);
  if (amount > 0 && order.paymentStatus !== OrderPaymentStatus.EXTERNAL)
    await leaveTask(ctx, order, { kind: 'refund', key: `order:${order.id}:recall`, amount });
}

const affectedBy = async (ctx: Context, lotIds: readonly string[]): Promise<string[]> =>
  (await ctx.sql<{ orderId: string }>(AFFECTED, [lotIds])).map(one => one.orderId);

/** An order was allocated some of a lot while its stock was waited for. */
class Late extends Error {}

/** Locks the first orders to which some of the lots is allocated, then the stock of all that they hold. @throws Late. */
async function lockAffected(ctx: Context, variantId: string, lotIds: readonly string[]): Promise<string[]> {
  const orders = (await affectedBy(ctx, lotIds)).slice(0, SETTLED_TOGETHER);
  for (const id of orders) await lockOrder(ctx, id);
  const besides = await ctx.sql<{ id: string }>(BESIDES, [orders]);
  await lockJudged(ctx, [variantId, ...besides.map(({ id }) => id)]);
  if ((await affectedBy(ctx, lotIds)).slice(0, SETTLED_TOGETHER).some(id => !orders.includes(id))) throw new Late();
  return orders;
}

/** Orders before stock, as everywhere: whoever came between gets its turn, all locks given back, before it is tried again. @returns the orders. */
export async function lockConcerned(ctx: Context, variantId: string, lotIds: readonly string[]): Promise<string[]> {
  for (;;)
    try {
      return await ctx.savepoint(() => lockAffected(ctx, variantId, lotIds));
    } catch (error) {
      if (!(error instanceof Late)) throw error;
    }
}

/** Takes recalled lots out of locked orders. */
export async function settleOrders(ctx: Context, orderIds: readonly string[], lotIds: readonly string[]): Promise<Outcome> {
  const outcome: Outcome = { moved: 0, cancelled: 0, lost: [] };
  for (const id of orderIds) {
    const { moved, cancelled } = await settleOrderOf(ctx, id, lotIds);
    outcome.moved += moved;
    outcome.cancelled += cancelled;
    if (cancelled > 0) outcome.lost.push(id);
  }
  await ctx.em.flush();
  return outcome;
}

/** Whether orders hold units of the lots that were not shipped. */
export const holdsUnshipped = async (ctx: Context, lotIds: readonly string[]): Promise<boolean> =>
  (await affectedBy(ctx, lotIds)).length > 0;
