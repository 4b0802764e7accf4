import { newId } from '../../../runtime/data/ids.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { move as step } from '../../../runtime/request/states.js';
import { OrderFulfillmentProvider, OrderFulfillmentStatus, OrderStatus, StockMovementKind } from '../entities/enums.js';
import { Order } from '../entities/order.js';
import type { CancelOrderInput, FulfillOrderInput, ReturnItemInput, ReturnOrderItemsInput } from '../inputs/order.js';
import { fulfillmentsOf, itemRows, ownRows, type ItemRow } from '../queries/order.js';
import { todayOf } from '../queries/stock.js';
import { fulfillmentStatusOf, isComplete, isForward, ORDER_STATES } from '../rules/order.js';
import { unitsOf } from '../rules/money.js';
import { allocationsOf } from './allocation.js';
import { cancelPlaced } from './order-outcome.js';
import { lockOrder, touchOrder } from './order-row.js';
import { leaveTask } from './payment-task.js';
import { lockJudged, lockStock, move, rejudge } from './stock.js';

/** Cancels an order of which nothing was shipped. @throws Problem not_found, conflict. */
export async function cancelOrder(ctx: Context, { id, reason }: CancelOrderInput): Promise<Order> {
  const order = await lockRow(ctx, Order, { id: id.toLowerCase(), ...ownRows(ctx) }, 'No such order');
  const items = await itemRows(ctx, [order.id]);
  if (items.some(one => one.fulfilled > 0))
    fail('conflict', 'an order of which something was shipped cannot be cancelled', { reason: 'shipped' });
  await cancelPlaced(ctx, order, reason);
  return order;
}

const LOT_STATES = `select id, status from commerce.inventory_lot where id = any($1)`;

/** Lots of which nothing may leave the house. */
async function blockedLots(ctx: Context, ids: readonly (string | null)[]): Promise<Set<string>> {
  const rows = await ctx.sql<{ id: string; status: string }>(LOT_STATES, [ids.filter(one => one !== null)]);
  return new Set(rows.filter(one => one.status !== 'available' && one.status !== 'depleted').map(one => one.id));
}

/** How many plain units one unit of a line takes of a variant. */
const perUnit = (item: ItemRow, variantId: string): number => (item.demand[variantId] ?? 0) / item.quantity;

/** Ships units of a line out of what is allocated to it. @throws Problem conflict `lot_blocked`. */
async function shipLine(
  ctx: Context,
  order: Order,
  item: ItemRow,
  quantity: number,
  allocations: Awaited<ReturnType<typeof allocationsOf>>,
): Promise<void> {
  const own = allocations.filter(one => one.itemId === item.id);
  const blocked = await blockedLots(
    ctx,
    own.map(one => one.lotId),
  );
  for (const variantId of new Set(own.map(one => one.variantId))) {
    let left = perUnit(item, variantId) * quantity;
    for (const one of own.filter(part => part.variantId === variantId && part.quantity > part.shipped)) {
      const taken = Math.min(left, one.quantity - one.shipped);
      if (taken <= 0) continue;
      if (one.lotId !== null && blocked.has(one.lotId)) fail('conflict', 'The lot must not be shipped', { reason: 'lot_blocked' });
      await ctx.sql('update commerce.order_item_lot set shipped = shipped + $2 where id = $1', [one.id, taken]);
      const { locationId, lotNumber, lotId } = one;
      await move(
        ctx,
        { variantId, locationId, lotNumber, kind: StockMovementKind.SHIPMENT, quantity: -taken, reference: `order:${order.id}` },
        lotId,
      );
      left -= taken;
    }
  }
  await ctx.sql('update commerce.order_item set fulfilled = fulfilled + $2 where id = $1', [item.id, quantity]);
}

const FULFILLMENT = `
insert into commerce.order_fulfillment (id, order_id, status, provider, carrier, tracking_number, tracking_url, items, created_at, updated_at)
values ($1, $2, 'shipped', 'own', $3, $4, $5, $6, $7, $7)`;

/** Derives where an order stands from its lines and parcels; complete when nothing is left to be sent. */
export async function deriveFulfillment(ctx: Context, order: Order): Promise<void> {
  await ctx.em.flush();
  const [items, parcels] = [await itemRows(ctx, [order.id]), await fulfillmentsOf(ctx, [order.id])];
  order.fulfillmentStatus = fulfillmentStatusOf(
    items,
    parcels.map(one => one.status),
  );
  if (order.status === OrderStatus.PLACED && isComplete(items)) order.status = step(ORDER_STATES, 'order', order.status, 'complete');
  touchOrder(ctx, order);
}

/** Ships what is named, else all that is left. @throws Problem conflict, invalid_request. */
export async function fulfillOrder(ctx: Context, input: FulfillOrderInput): Promise<Order> {
  const order = await lockRow(ctx, Order, { id: input.id.toLowerCase() }, 'No such order');
  if (order.status !== OrderStatus.PLACED) fail('conflict', `an order that is ${order.status.replace('_', ' ')} cannot be shipped`);
  const items = await itemRows(ctx, [order.id]);
  const left = (item: ItemRow): number => item.quantity - item.fulfilled - item.cancelled;
  const wanted =
    input.items?.map(one => ({ item: items.find(row => row.id === one.itemId.toLowerCase()), quantity: one.quantity })) ??
    items.filter(one => left(one) > 0 && one.requirement !== 'prescription').map(item => ({ item, quantity: left(item) }));
  wanted.forEach(({ item, quantity }, index) => {
    if (!item) invalid(`/input/items/${index}/itemId`, 'is no line of the order');
    if (quantity > left(item)) fail('conflict', 'Less is left to be shipped', { reason: 'not_left' });
  });
  if (wanted.length === 0) fail('conflict', 'Nothing is left to be shipped');
  const allocations = await allocationsOf(ctx, order.id);
  await lockStock(
    ctx,
    allocations.map(one => one.variantId),
  );
  for (const { item, quantity } of wanted) await shipLine(ctx, order, item!, quantity, await allocationsOf(ctx, order.id));
  const shipped = JSON.stringify(wanted.map(({ item, quantity }) => ({ itemId: item!.id, quantity })));
  await ctx.sql(FULFILLMENT, [
    newId(),
    order.id,
    input.carrier ?? null,
    input.trackingNumber ?? null,
    input.trackingUrl ?? null,
    shipped,
    ctx.now().toISOString(),
  ]);
  await deriveFulfillment(ctx, order);
  ctx.audit('order.fulfilled', order.id, { lines: wanted.length });
  return order;
}

/** Moves a parcel on; never back. @returns its order, or null where nothing moved. */
export async function moveParcel(
  ctx: Context,
  id: string,
  to: OrderFulfillmentStatus,
  tracking: { carrier?: string; trackingNumber?: string } = {},
): Promise<Order | null> {
  const [known] = await ctx.sql<{ orderId: string }>('select order_id as "orderId" from commerce.order_fulfillment where id = $1', [id]);
  if (!known) return null;
  const order = await lockOrder(ctx, known.orderId);
  const parcel = (await fulfillmentsOf(ctx, [order.id])).find(one => one.id === id)!;
  if (!isForward(parcel.status, to)) return null;
  const { carrier = null, trackingNumber = null } = tracking;
  await ctx.sql(
    `update commerce.order_fulfillment set status = $2, carrier = coalesce($3, carrier), tracking_number = coalesce($4, tracking_number), updated_at = $5 where id = $1`,
    [id, to, carrier, trackingNumber, ctx.now().toISOString()],
  );
  const isSent = to === OrderFulfillmentStatus.SHIPPED || to === OrderFulfillmentStatus.DELIVERED;
  const wasSent = parcel.status === OrderFulfillmentStatus.SHIPPED;
  if (parcel.provider === OrderFulfillmentProvider.PARTNER && isSent && !wasSent)
    for (const { itemId, quantity } of parcel.items)
      await ctx.sql('update commerce.order_item set fulfilled = least(quantity - cancelled, fulfilled + $2) where id = $1', [
        itemId,
        quantity,
      ]);
  await deriveFulfillment(ctx, order);
  return order;
}

/** @throws Problem not_found, conflict. */
export async function markDelivered(ctx: Context, id: string): Promise<Order> {
  const [known] = await ctx.sql('select 1 from commerce.order_fulfillment where id = $1', [id.toLowerCase()]);
  if (!known) fail('not_found', 'No such parcel');
  const order = await moveParcel(ctx, id.toLowerCase(), OrderFulfillmentStatus.DELIVERED);
  return order ?? fail('conflict', 'The parcel is delivered already');
}

type Allocation = Awaited<ReturnType<typeof allocationsOf>>[number];

const SHIPPED_LOTS = `
select a.id, a.order_item_id as "itemId", a.variant_id as "variantId", a.location_id as "locationId", a.lot_id as "lotId", a.lot_number as "lotNumber", a.quantity,
  a.shipped, a.returned, lot.status, lot.expires_on::text as "expiresOn"
from commerce.order_item_lot a left join commerce.inventory_lot lot on lot.id = a.lot_id where a.order_item_id = $1 and a.shipped > a.returned order by a.id`;

type ShippedLot = Allocation & { returned: number; status: string | null; expiresOn: string | null };

/** @throws Problem conflict `not_restockable`: recalled, or past its expiry. */
function requireRestockable(ctx: Context, lot: ShippedLot): void {
  if (lot.lotId === null) return;
  const isPast = lot.expiresOn !== null && lot.expiresOn <= todayOf(ctx);
  if (lot.status === 'recalled' || isPast) fail('conflict', 'Its lot must not be sold again', { reason: 'not_restockable' });
}

/** Takes units of a line back, from the lots from which they came. */
async function returnLine(
  ctx: Context,
  order: Order,
  item: ItemRow,
  { quantity, lotNumber, restock }: ReturnItemInput,
  index: number,
): Promise<void> {
  if (quantity > item.fulfilled - item.returned) fail('conflict', 'Fewer units were shipped', { reason: 'not_shipped' });
  const all = await ctx.sql<ShippedLot>(SHIPPED_LOTS, [item.id]);
  const numbers = new Set(all.map(one => one.lotNumber).filter(one => one !== null));
  if (numbers.size > 1 && lotNumber == null) invalid(`/input/items/${index}/lotNumber`, 'is required: the units came from several lots');
  if (lotNumber != null && !numbers.has(lotNumber)) fail('conflict', 'No unit of this lot was shipped', { reason: 'not_shipped' });
  for (const variantId of new Set(all.map(one => one.variantId))) {
    const own = all.filter(one => one.variantId === variantId);
    const named = own.filter(one => one.lotNumber === lotNumber); // the other parts of a bundle are of lots of their own, or of none
    let left = perUnit(item, variantId) * quantity;
    for (const lot of named.length > 0 ? named : own) {
      const taken = Math.min(left, lot.shipped - lot.returned);
      if (taken <= 0) continue;
      if (restock) requireRestockable(ctx, lot);
      await ctx.sql('update commerce.order_item_lot set returned = returned + $2 where id = $1', [lot.id, taken]);
      const one = {
        variantId,
        locationId: lot.locationId,
        lotNumber: lot.lotNumber,
        kind: StockMovementKind.RETURN,
        quantity: restock ? taken : 0,
        reference: `order:${order.id}`,
      };
      await move(ctx, one, lot.lotId);
      left -= taken;
    }
    if (left > 0 && numbers.size > 0) fail('conflict', 'Fewer units of this lot were shipped', { reason: 'not_shipped' });
  }
  await ctx.sql('update commerce.order_item set returned = returned + $2 where id = $1', [item.id, quantity]);
}

/** What some units of a line were paid, units that were refunded before not counted again. */
async function refundUnits(ctx: Context, item: ItemRow, quantity: number): Promise<number> {
  await ctx.sql('update commerce.order_item set refunded = refunded + $2 where id = $1', [item.id, quantity]);
  return unitsOf(item.total, item.quantity, item.refunded, quantity);
}

/** Takes units back, pays them back when asked. @throws Problem conflict `not_shipped`, `not_restockable`; invalid_request. */
export async function returnOrderItems(ctx: Context, input: ReturnOrderItemsInput): Promise<Order> {
  const order = await lockRow(ctx, Order, { id: input.orderId.toLowerCase() }, 'No such order');
  if (order.status !== OrderStatus.PLACED && order.status !== OrderStatus.COMPLETED)
    fail('conflict', `an order that is ${order.status.replace('_', ' ')} has nothing to return`, { reason: 'not_shipped' });
  await lockJudged(
    ctx,
    (await allocationsOf(ctx, order.id)).map(one => one.variantId),
  );
  let amount = 0;
  for (const [index, one] of input.items.entries()) {
    const item =
      (await itemRows(ctx, [order.id])).find(row => row.id === one.itemId.toLowerCase()) ??
      invalid(`/input/items/${index}/itemId`, 'is no line of the order');
    await returnLine(ctx, order, item, one, index);
    if (input.refund) amount += await refundUnits(ctx, item, Math.min(one.quantity, item.quantity - item.refunded));
  }
  await rejudge(
    ctx,
    (await allocationsOf(ctx, order.id)).map(one => one.variantId),
  );
  await deriveFulfillment(ctx, order);
  if (amount > 0 && order.paymentStatus !== 'external')
    await leaveTask(ctx, order, { kind: 'refund', key: `order:${order.id}:return:${order.version}`, amount });
  ctx.audit('order.items_returned', order.id, { lines: input.items.length, refund: amount });
  return order;
}

/** Cancels units of a line that cannot be delivered, and pays them back. */
export async function cancelUnits(ctx: Context, order: Order, item: ItemRow, quantity: number, why: string): Promise<void> {
  await ctx.sql('update commerce.order_item set cancelled = cancelled + $2, refunded = refunded + $2 where id = $1', [item.id, quantity]);
  const amount = unitsOf(item.total, item.quantity, item.refunded, quantity);
  if (amount > 0 && order.paymentStatus !== 'external')
    await leaveTask(ctx, order, { kind: 'refund', key: `order:${order.id}:${why}:${item.id}`, amount });
}
