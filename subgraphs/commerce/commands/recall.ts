import { messageSendRequested } from '../../../events/catalogue/comms.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { InventoryLotStatus, OrderCancelReason, OrderStatus, StockMovementKind } from '../entities/enums.js';
import type { RecallReport } from '../entities/inventory.js';
import type { RecallLotInput } from '../inputs/inventory.js';
import { itemRows } from '../queries/order.js';
import { lotRecall, lotsOf } from '../queries/recall.js';
import { allocateUnits, allocationsOf, unallocate } from './allocation.js';
import { variantOf } from './inventory.js';
import { cancelUnits, deriveFulfillment } from './order.js';
import { lockOrder, touchOrder } from './order-row.js';
import { lockStock, move, rejudge } from './stock.js';

const AFFECTED = `
select distinct i.order_id as "orderId" from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id
where a.lot_id = any($1) order by 1`;

interface Outcome {
  moved: number;
  cancelled: number;
  /** Whether units of it were shipped or cancelled. */
  isConcerned: boolean;
}

/** Takes a recalled lot out of an order: other lots cover what they can, the rest is cancelled and paid back. */
async function settleOrderOf(
  ctx: Context,
  orderId: string,
  lotIds: readonly string[],
): Promise<Outcome & { userId: string | null; isErased: boolean }> {
  const order = await lockOrder(ctx, orderId);
  const own = (await allocationsOf(ctx, orderId)).filter(one => one.lotId !== null && lotIds.includes(one.lotId));
  const outcome: Outcome = { moved: 0, cancelled: 0, isConcerned: own.some(one => one.shipped > 0) };
  for (const one of own.filter(part => part.quantity > part.shipped)) {
    const quantity = one.quantity - one.shipped;
    await unallocate(ctx, one, quantity, `order:${orderId}`);
    const missing = await allocateUnits(ctx, one.itemId, one.variantId, quantity, `order:${orderId}`);
    outcome.moved += quantity - missing;
    if (missing === 0) continue;
    const item = (await itemRows(ctx, [orderId])).find(row => row.id === one.itemId)!;
    const units = Math.min(
      item.quantity - item.fulfilled - item.cancelled,
      Math.ceil(missing / ((item.demand[one.variantId] ?? item.quantity) / item.quantity)),
    );
    await cancelUnits(ctx, order, item, units, `recall:${one.lotId}`);
    outcome.cancelled += units;
    outcome.isConcerned = true;
  }
  if (order.status === OrderStatus.PLACED) await deriveFulfillment(ctx, order);
  const items = await itemRows(ctx, [orderId]);
  if (order.status === OrderStatus.PLACED && items.every(one => one.cancelled === one.quantity)) {
    Object.assign(order, { status: OrderStatus.CANCELLED, cancelledAt: ctx.now(), cancelReason: OrderCancelReason.RECALL });
    touchOrder(ctx, order);
  }
  return { ...outcome, userId: order.userId, isErased: order.isErased };
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

/**
 * Recalls a lot at all locations: it is sold no more, what was not shipped of it is covered by other lots or cancelled, and its buyers are
 * warned, each once. Again: nothing. Source: commerce 3, 4.2.
 */
export async function recallLot(ctx: Context, { sku, lotNumber, reason }: RecallLotInput): Promise<RecallReport> {
  const variant = await variantOf(ctx, sku);
  const before = await lotsOf(ctx, sku, lotNumber);
  // orders before stock, as everywhere: whoever holds the one waits for the other
  for (const { orderId } of await ctx.sql<{ orderId: string }>(AFFECTED, [before.map(one => one.id)])) await lockOrder(ctx, orderId);
  await lockStock(ctx, [variant.id]);
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
  for (const { orderId } of await ctx.sql<{ orderId: string }>(AFFECTED, [ids])) {
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
