import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { StockMovementKind, type InventoryLotStatus } from '../entities/enums.js';
import { todayOf } from '../queries/stock.js';
import { pickLots } from '../rules/stock.js';
import { lockStock, move, release, shortageOf, type Shortage } from './stock.js';

/** A line that is to be allocated: units by plain variant. */
export interface LineDemand {
  itemId: string;
  demand: Readonly<Record<string, number>>;
}

interface Place {
  variantId: string;
  locationId: string;
  free: number;
  lotTracked: boolean;
  tracked: boolean;
}

interface LotRow {
  id: string;
  variantId: string;
  locationId: string;
  lotNumber: string;
  expiresOn: string | null;
  status: InventoryLotStatus;
  free: number;
}

const PLACES = `
select l.variant_id as "variantId", l.location_id as "locationId", l.on_hand - l.allocated as free, v.lot_tracked as "lotTracked", v.track_inventory as tracked
from commerce.inventory_level l join commerce.inventory_location p on p.id = l.location_id join commerce.product_variant v on v.id = l.variant_id
where l.variant_id = $1 and p.active order by p.priority, p.code`;

const LOTS = `
select lot.id, lot.variant_id as "variantId", lot.location_id as "locationId", lot.lot_number as "lotNumber", lot.expires_on::text as "expiresOn",
  lot.status, lot.on_hand - lot.allocated as free
from commerce.inventory_lot lot join commerce.inventory_location p on p.id = lot.location_id
where lot.variant_id = $1 and p.active order by lot.id for update of lot`;

const ALLOCATED = `
insert into commerce.order_item_lot (id, order_item_id, variant_id, location_id, lot_id, lot_number, expires_on, quantity) values ($1, $2, $3, $4, $5, $6, $7, $8)`;

interface Part {
  locationId: string;
  lot: LotRow | null;
  quantity: number;
}

/** What of a variant comes from where: lots by expiry, else locations by priority; what is over (a backorder) from the first place. */
async function partsOf(ctx: Context, variantId: string, quantity: number): Promise<Part[]> {
  const places = await ctx.sql<Place>(PLACES, [variantId]);
  if (places.length === 0) return [];
  if (places[0]!.lotTracked) {
    const lots = await ctx.sql<LotRow>(LOTS, [variantId]);
    return pickLots(lots, quantity, todayOf(ctx)).map(({ lot, quantity: taken }) => ({ locationId: lot.locationId, lot, quantity: taken }));
  }
  const parts: Part[] = [];
  let left = quantity;
  for (const { locationId, free } of places) {
    const taken = Math.min(left, Math.max(0, free));
    if (taken > 0) parts.push({ locationId, lot: null, quantity: taken });
    left -= taken;
  }
  if (left > 0) parts.push({ locationId: places[0]!.locationId, lot: null, quantity: left });
  return parts;
}

/** Allocates units of a variant to a line. @returns units that no lot or place covers. */
export async function allocateUnits(ctx: Context, itemId: string, variantId: string, quantity: number, reference: string): Promise<number> {
  let left = quantity;
  for (const { locationId, lot, quantity: taken } of await partsOf(ctx, variantId, quantity)) {
    await ctx.sql(ALLOCATED, [
      newId(),
      itemId,
      variantId,
      locationId,
      lot?.id ?? null,
      lot?.lotNumber ?? null,
      lot?.expiresOn ?? null,
      taken,
    ]);
    const kind = StockMovementKind.ALLOCATION;
    await move(ctx, { variantId, locationId, lotNumber: lot?.lotNumber ?? null, kind, quantity: taken, reference }, lot?.id ?? null);
    left -= taken;
  }
  return left;
}

/** Which of some variants are counted. */
async function trackedOf(ctx: Context, ids: readonly string[]): Promise<Set<string>> {
  const rows = await ctx.sql<{ id: string }>('select id from commerce.product_variant where id = any($1) and track_inventory', [ids]);
  return new Set(rows.map(({ id }) => id));
}

function totalOf(lines: readonly LineDemand[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const { demand } of lines) for (const [id, quantity] of Object.entries(demand)) total.set(id, (total.get(id) ?? 0) + quantity);
  return total;
}

/**
 * Makes allocations of an order's reservations: first expired, first out. @param force allocates even below zero, as for an order that a
 * channel has sold already. @returns what is missing; then nothing is allocated, and what the order had reserved is gone.
 */
export async function allocateOrder(ctx: Context, orderId: string, lines: readonly LineDemand[], force = false): Promise<Shortage | null> {
  const total = totalOf(lines);
  await lockStock(ctx, total.keys());
  await release(ctx, { orderId });
  const shortage = await shortageOf(ctx, total);
  if (shortage && !force) return shortage;
  const tracked = await trackedOf(ctx, [...total.keys()]);
  for (const { itemId, demand } of lines)
    for (const [variantId, quantity] of Object.entries(demand).filter(([id]) => tracked.has(id)))
      await allocateUnits(ctx, itemId, variantId, quantity, `order:${orderId}`);
  return shortage;
}

interface Allocated {
  id: string;
  itemId: string;
  variantId: string;
  locationId: string;
  lotId: string | null;
  lotNumber: string | null;
  quantity: number;
  shipped: number;
}

const OF_ORDER = `
select a.id, a.order_item_id as "itemId", a.variant_id as "variantId", a.location_id as "locationId", a.lot_id as "lotId", a.lot_number as "lotNumber",
  a.quantity, a.shipped
from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id where i.order_id = $1 order by a.id`;

/** What of an order is allocated. */
export const allocationsOf = (ctx: Context, orderId: string): Promise<Allocated[]> => ctx.sql<Allocated>(OF_ORDER, [orderId]);

/** Gives back units of an allocation that were not shipped. */
export async function unallocate(ctx: Context, one: Allocated, quantity: number, reference: string): Promise<void> {
  if (quantity === one.quantity) await ctx.sql('delete from commerce.order_item_lot where id = $1', [one.id]);
  else await ctx.sql('update commerce.order_item_lot set quantity = quantity - $2 where id = $1', [one.id, quantity]);
  const { variantId, locationId, lotNumber } = one;
  await move(ctx, { variantId, locationId, lotNumber, kind: StockMovementKind.RELEASE, quantity: -quantity, reference }, one.lotId);
}

/** Gives back all that is allocated to an order and not shipped. */
export async function releaseOrder(ctx: Context, orderId: string): Promise<void> {
  const rows = await allocationsOf(ctx, orderId);
  await lockStock(
    ctx,
    rows.map(one => one.variantId),
  );
  for (const one of rows) if (one.quantity > one.shipped) await unallocate(ctx, one, one.quantity - one.shipped, `order:${orderId}`);
}
