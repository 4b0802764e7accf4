import { messageSendRequested } from '../../../events/catalogue/comms.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { InventoryLotStatus, OrderCancelReason, OrderPaymentStatus, OrderStatus, StockMovementKind } from '../entities/enums.js';
import type { RecallReport } from '../entities/inventory.js';
import type { Order } from '../entities/order.js';
import type { RecallLotInput } from '../inputs/inventory.js';
import { itemRows, type ItemRow } from '../queries/order.js';
import { lotRecall, lotsOf } from '../queries/recall.js';
import { allocateUnits, allocationsOf, unallocate } from './allocation.js';
import { variantOf } from './inventory.js';
import { cancelUnits, deriveFulfillment } from './order.js';
import { lockOrder, touchOrder } from './order-row.js';
import { leaveTask } from './payment-task.js';
import { lockStock, move, rejudge } from './stock.js';

const AFFECTED = `
select distinct i.order_id as "orderId" from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id
where a.lot_id = any($1) order by 1`;

/** All that is allocated to the orders of which some is. */
const BESIDES = `
select distinct a.variant_id as id from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id
where i.order_id in (select o.order_id from commerce.order_item_lot b join commerce.order_item o on o.id = b.order_item_id where b.lot_id = any($1))`;

interface Outcome {
  moved: number;
  cancelled: number;
  /** Whether units of it were shipped or cancelled. */
  isConcerned: boolean;
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
async function settleOrderOf(
  ctx: Context,
  orderId: string,
  lotIds: readonly string[],
): Promise<Outcome & { userId: string | null; isErased: boolean }> {
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
  const isConcerned = cancelled > 0 || own.some(one => one.shipped > 0);
  return { moved, cancelled, isConcerned, userId: order.userId, isErased: order.isErased };
}

/** What was paid beside the lines: their way to the buyer. */
async function refundRest(ctx: Context, order: Order, items: readonly ItemRow[]): Promise<void> {
  const amount = order.total - items.reduce((sum, one) => sum + one.total, 0);
  if (amount > 0 && order.paymentStatus !== OrderPaymentStatus.EXTERNAL)
    await leaveTask(ctx, order, { kind: 'refund', key: `order:${order.id}:recall`, amount });
}

const NEWEST = `
select o.number, count(*) over ()::int as orders from commerce.shop_order o
where o.user_id = $1 and o.id in (select i.order_id from commerce.order_item i where i.order_id = any($2)) order by o.created_at desc, o.id desc limit 1`;

/** One message to each buyer of units that were shipped or cancelled. */
async function warn(ctx: Context, recallId: string, lotNumber: string, userId: string, orderIds: readonly string[]): Promise<void> {
  const [row] = await ctx.sql<{ number: string; orders: number }>(NEWEST, [userId, orderIds]);
  const params = { order_number: row!.number, order_count: row!.orders, lot_number: lotNumber };
  const channels = ['email', 'sms', 'push', 'in_app'] as const;
  ctx.emit(
    messageSendRequested,
    {
      request_id: newId(),
      template: 'product_recall',
      channels: [...channels],
      recipient_type: 'user',
      recipient_id: userId,
      params,
      dedupe_key: `recall:${recallId}:${userId}`,
      send_after: null,
      category: 'transactional',
    },
    { userId },
  );
}

const affectedBy = async (ctx: Context, lotIds: readonly string[]): Promise<string[]> =>
  (await ctx.sql<{ orderId: string }>(AFFECTED, [lotIds])).map(one => one.orderId);

/** An order was allocated some of a lot while its stock was waited for. */
class Late extends Error {}

/** Locks the orders to which some of the lots is allocated, then the stock of all that they hold. @throws Late. */
async function lockAffected(ctx: Context, variantId: string, lotIds: readonly string[]): Promise<void> {
  const orders = await affectedBy(ctx, lotIds);
  for (const id of orders) await lockOrder(ctx, id);
  const besides = await ctx.sql<{ id: string }>(BESIDES, [lotIds]);
  await lockStock(ctx, [variantId, ...besides.map(({ id }) => id)]);
  if ((await affectedBy(ctx, lotIds)).some(id => !orders.includes(id))) throw new Late();
}

/** Orders before stock, as everywhere: whoever came between gets its turn, all locks given back, before it is tried again. */
async function lockConcerned(ctx: Context, variantId: string, lotIds: readonly string[]): Promise<void> {
  for (;;)
    try {
      return await ctx.savepoint(() => lockAffected(ctx, variantId, lotIds));
    } catch (error) {
      if (!(error instanceof Late)) throw error;
    }
}

/**
 * Recalls a lot at all locations: it is sold no more, what was not shipped of it is covered by other lots or cancelled, and its buyers are
 * warned, each once. Again: nothing. Source: commerce 3, 4.2.
 */
export async function recallLot(ctx: Context, { sku, lotNumber, reason }: RecallLotInput): Promise<RecallReport> {
  const variant = await variantOf(ctx, sku);
  const before = await lotsOf(ctx, sku, lotNumber);
  await lockConcerned(
    ctx,
    variant.id,
    before.map(one => one.id),
  );
  const lots = await lotsOf(ctx, sku, lotNumber);
  if (lots.every(one => one.status === InventoryLotStatus.RECALLED)) return lotRecall(ctx, sku, lotNumber);
  const recallId = lots.find(one => one.recallId !== null)?.recallId ?? newId();
  const ids = lots.map(one => one.id);
  await ctx.sql(
    `update commerce.inventory_lot set status = 'recalled', recall_id = $2, version = version + 1, updated_at = $3 where id = any($1)`,
    [ids, recallId, ctx.now().toISOString()],
  );
  const concerned = new Map<string, string[]>();
  const report = { moved: 0, cancelled: 0 };
  for (const orderId of await affectedBy(ctx, ids)) {
    const one = await settleOrderOf(ctx, orderId, ids);
    report.moved += one.moved;
    report.cancelled += one.cancelled;
    if (one.isConcerned && one.userId !== null && !one.isErased) concerned.set(one.userId, [...(concerned.get(one.userId) ?? []), orderId]);
  }
  await ctx.em.flush();
  const [place] = await ctx.sql<{ locationId: string }>('select location_id as "locationId" from commerce.inventory_lot where id = $1', [
    ids[0],
  ]);
  await move(ctx, {
    variantId: variant.id,
    locationId: place!.locationId,
    lotNumber,
    kind: StockMovementKind.RECALL,
    quantity: 0,
    reference: `recall:${recallId}`,
  });
  await rejudge(ctx, [variant.id]);
  for (const [userId, orderIds] of concerned) await warn(ctx, recallId, lotNumber, userId, orderIds);
  ctx.audit('inventory_lot.recalled', recallId, {
    lots: ids.length,
    moved: report.moved,
    cancelled: report.cancelled,
    reason_length: reason.length,
  });
  return {
    ...(await lotRecall(ctx, sku, lotNumber)),
    movedToOtherLots: report.moved,
    cancelled: report.cancelled,
    noticesSent: concerned.size,
  };
}
