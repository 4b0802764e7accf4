import { newId } from '../../../runtime/data/ids.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { StockMovementKind, type InventoryLotStatus } from '../entities/enums.js';
import { todayOf } from '../queries/stock.js';
import { pickLots } from '../rules/stock.js';
import { drop, lockStock, move, shortageOf, type Shortage } from './stock.js';

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

/** Only of what is counted. */
const PLACES = `
select l.variant_id as "variantId", l.location_id as "locationId", l.on_hand - l.allocated as free, v.lot_tracked as "lotTracked"
from commerce.inventory_level l join commerce.inventory_location p on p.id = l.location_id
join commerce.product_variant v on v.id = l.variant_id and v.track_inventory
where l.variant_id = any($1) and p.active order by p.priority, p.code`;

const LOTS = `
select lot.id, lot.variant_id as "variantId", lot.location_id as "locationId", lot.lot_number as "lotNumber", lot.expires_on::text as "expiresOn",
  lot.status, lot.on_hand - lot.allocated as free
from commerce.inventory_lot lot join commerce.inventory_location p on p.id = lot.location_id
where lot.variant_id = any($1) and p.active order by lot.id for update of lot`;

/** What some variants lie in; what is taken is gone for whoever takes next. */
interface Shelves {
  places: Place[];
  lots: LotRow[];
}

async function shelvesOf(ctx: Context, variantIds: readonly string[]): Promise<Shelves> {
  const [places, lots] = [await ctx.sql<Place>(PLACES, [variantIds]), await ctx.sql<LotRow>(LOTS, [variantIds])];
  return { places, lots };
}

interface Part {
  itemId: string;
  variantId: string;
  locationId: string;
  lot: LotRow | null;
  quantity: number;
}

type Source = Pick<Part, 'locationId' | 'lot' | 'quantity'>;

/** Units of what has no lots, by the locations' priority; what is over (a backorder) comes from the first one. */
function fromPlaces(places: readonly Place[], quantity: number): Source[] {
  const sources: Source[] = [];
  let left = quantity;
  for (const place of places) {
    const taken = Math.min(left, Math.max(0, place.free));
    if (taken > 0) sources.push({ locationId: place.locationId, lot: null, quantity: taken });
    place.free -= taken;
    left -= taken;
  }
  if (left > 0) sources.push({ locationId: places[0]!.locationId, lot: null, quantity: left });
  return sources;
}

/** Units of lots, first expired, first out. */
function fromLots(lots: readonly LotRow[], quantity: number, today: string): Source[] {
  return pickLots(lots, quantity, today).map(({ lot, quantity: taken }) => {
    lot.free -= taken;
    return { locationId: lot.locationId, lot, quantity: taken };
  });
}

/** What of a line comes from where. */
function partsOf({ itemId, demand }: LineDemand, shelves: Shelves, today: string): Part[] {
  return Object.entries(demand).flatMap(([variantId, quantity]) => {
    const places = shelves.places.filter(one => one.variantId === variantId);
    if (places.length === 0) return [];
    const lots = shelves.lots.filter(one => one.variantId === variantId);
    const sources = places[0]!.lotTracked ? fromLots(lots, quantity, today) : fromPlaces(places, quantity);
    return sources.map(source => ({ itemId, variantId, ...source }));
  });
}

/** Allocations, their movements, and what they do to levels and lots. `$1` the parts, `$2` reference, `$3` actor, `$4` the instant. */
const ALLOCATE = `
with part as (
  select * from jsonb_to_recordset($1::jsonb) as p(id uuid, movement uuid, item uuid, variant uuid, location uuid, lot uuid, number text, expires date, quantity int)),
allocated as (
  insert into commerce.order_item_lot (id, order_item_id, variant_id, location_id, lot_id, lot_number, expires_on, quantity)
  select id, item, variant, location, lot, number, expires, quantity from part),
moved as (
  insert into commerce.stock_movement (id, variant_id, location_id, lot_number, kind, quantity, reference, actor, created_at)
  select movement, variant, location, number, '${StockMovementKind.ALLOCATION}', quantity, $2, $3, $4::timestamptz from part),
leveled as (
  update commerce.inventory_level l set allocated = l.allocated + s.quantity, updated_at = $4::timestamptz
  from (select variant, location, sum(quantity)::int as quantity from part group by 1, 2) s where l.variant_id = s.variant and l.location_id = s.location)
update commerce.inventory_lot t set allocated = t.allocated + s.quantity, updated_at = $4::timestamptz, version = t.version + 1
from (select lot, sum(quantity)::int as quantity from part where lot is not null group by 1) s where t.id = s.lot`;

async function write(ctx: Context, parts: readonly Part[], reference: string): Promise<void> {
  const rows = parts.map(({ itemId, variantId, locationId, lot, quantity }) => ({
    id: newId(),
    movement: newId(),
    item: itemId,
    variant: variantId,
    location: locationId,
    lot: lot?.id ?? null,
    number: lot?.lotNumber ?? null,
    expires: lot?.expiresOn ?? null,
    quantity,
  }));
  await ctx.sql(ALLOCATE, [JSON.stringify(rows), reference, actorOf(ctx.caller), ctx.now().toISOString()]);
}

/** Allocates units to lines, in one statement whatever their number; the caller holds the lock. @returns units that were allocated. */
async function allocate(ctx: Context, lines: readonly LineDemand[], reference: string): Promise<number> {
  const shelves = await shelvesOf(ctx, [...totalOf(lines).keys()]);
  const parts = lines.flatMap(line => partsOf(line, shelves, todayOf(ctx)));
  if (parts.length > 0) await write(ctx, parts, reference);
  return parts.reduce((sum, one) => sum + one.quantity, 0);
}

/** Allocates units of a variant to a line. @returns units that no lot or place covers. */
export const allocateUnits = async (
  ctx: Context,
  itemId: string,
  variantId: string,
  quantity: number,
  reference: string,
): Promise<number> => quantity - (await allocate(ctx, [{ itemId, demand: { [variantId]: quantity } }], reference));

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
  await drop(ctx, 'order_id', [orderId]);
  const shortage = await shortageOf(ctx, total);
  if (shortage && !force) return shortage;
  await allocate(ctx, lines, `order:${orderId}`);
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
