import { newId } from '../../../runtime/data/ids.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { StockMovementKind } from '../entities/enums.js';
import { demandOf, stockOf, summed, type Demand } from '../queries/stock.js';
import { endingOrder, takeable } from '../rules/stock.js';

/**
 * Locks the stock of variants until the transaction ends, always in the order of the levels' ids, so that two buyers of the same things
 * wait for each other and never lock each other out. Every change of stock, lots and reservations comes after this. Source: commerce 7.8.
 */
export async function lockStock(ctx: Context, variantIds: Iterable<string>): Promise<void> {
  await ctx.em.flush();
  await ctx.sql('select id from commerce.inventory_level where variant_id = any($1) order by id for update', [[...new Set(variantIds)]]);
}

const JUDGED = `
select id from commerce.inventory_level where variant_id = any($1) or variant_id in (
  select other.variant_id from commerce.stock_reservation one join commerce.stock_reservation other on other.cart_item_id = one.cart_item_id
  where one.variant_id = any($1))
order by id for update`;

/** Locks the stock of variants whose reservations are to be judged again, and of what is held with them: a bundle's line ends as a whole. */
export async function lockJudged(ctx: Context, variantIds: Iterable<string>): Promise<void> {
  await ctx.em.flush();
  await ctx.sql(JUDGED, [[...new Set(variantIds)]]);
}

/** Locks the stock of all that lines need, bundles taken apart. @returns their demand together. */
export async function lockDemand(ctx: Context, lines: readonly { variantId: string; quantity: number }[]): Promise<Map<string, number>> {
  const demand = summed(await demandOf(ctx, lines));
  await lockStock(ctx, demand.keys());
  return demand;
}

/** Whose a reservation is: a cart's line's or an order's. */
export interface Holder {
  kind: 'cart' | 'checkout' | 'subscription';
  cartId?: string | null;
  cartItemId?: string | null;
  orderId?: string | null;
}

/** What is missing of a demand. */
export interface Shortage {
  variantId: string;
  wanted: number;
  /** Units that could be taken. */
  available: number;
}

/** The first variant of which there is not enough; null: all is there. Locks nothing. */
export async function shortageOf(ctx: Context, demand: Demand): Promise<Shortage | null> {
  const stock = await stockOf(ctx, [...demand.keys()]);
  for (const [variantId, wanted] of demand) {
    const available = takeable(stock.get(variantId)!);
    if (available < wanted) return { variantId, wanted, available };
  }
  return null;
}

const HOLD = `
insert into commerce.stock_reservation (id, kind, cart_id, cart_item_id, order_id, variant_id, location_id, quantity, expires_at, created_at)
select r.id, $1, $2::uuid, $3::uuid, $4::uuid, v.id,
  (select l.location_id from commerce.inventory_level l where l.variant_id = v.id order by l.id limit 1), r.quantity, $5::timestamptz, $6::timestamptz
from unnest($7::uuid[], $8::uuid[], $9::int[]) r(id, variant_id, quantity) join commerce.product_variant v on v.id = r.variant_id and v.track_inventory`;

/** Holds units that were found to be there, under the same lock: one statement, whatever their number. */
async function hold(ctx: Context, holder: Holder, demand: Demand, expiresAt: Date): Promise<void> {
  const { kind, cartId = null, cartItemId = null, orderId = null } = holder;
  const whose = [kind, cartId, cartItemId, orderId];
  const rows = [[...demand].map(() => newId()), [...demand.keys()], [...demand.values()]];
  await ctx.sql(HOLD, [...whose, expiresAt.toISOString(), ctx.now().toISOString(), ...rows]);
}

/** Whose reservations are dropped. */
type HeldBy = 'cart_id' | 'cart_item_id' | 'order_id';

/** Drops what is held by some; the caller has locked its stock. */
export const drop = async (ctx: Context, by: HeldBy, ids: readonly string[]): Promise<void> =>
  void (await ctx.sql(`delete from commerce.stock_reservation where ${by} = any($1)`, [ids]));

/** Locks the stock of what is held by some. */
export async function lockHeld(ctx: Context, by: HeldBy, ids: readonly string[]): Promise<void> {
  const text = `select distinct variant_id as id from commerce.stock_reservation where ${by} = any($1)`;
  const held = await ctx.sql<{ id: string }>(text, [ids]);
  if (held.length > 0)
    await lockStock(
      ctx,
      held.map(one => one.id),
    );
}

/**
 * Drops what is held by some, whose stock nobody has locked. It is locked first: who judges reservations drops them under that lock, and
 * one who drops them without it would lock that one out.
 */
export async function release(ctx: Context, by: HeldBy, ids: readonly string[]): Promise<void> {
  await lockHeld(ctx, by, ids);
  await drop(ctx, by, ids);
}

/**
 * Holds stock for a holder, in the place of what it has: locks, looks, writes, in one transaction.
 * @returns what is missing; then nothing is held, and what was held before is gone.
 */
export async function reserve(ctx: Context, holder: Holder, demand: Demand, expiresAt: Date): Promise<Shortage | null> {
  await lockStock(ctx, demand.keys());
  await (holder.cartItemId ? drop(ctx, 'cart_item_id', [holder.cartItemId]) : drop(ctx, 'order_id', [holder.orderId!]));
  const shortage = await shortageOf(ctx, demand);
  if (!shortage) await hold(ctx, holder, demand, expiresAt);
  return shortage;
}

/** One change of stock, written down. */
export interface Movement {
  variantId: string;
  locationId: string;
  lotNumber: string | null;
  kind: StockMovementKind;
  quantity: number;
  reference: string | null;
}

const MOVEMENT = `insert into commerce.stock_movement (id, variant_id, location_id, lot_number, kind, quantity, reference, actor, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/** How each kind changes what is on hand, and what is allocated, of its signed quantity. */
const EFFECTS: Readonly<Record<StockMovementKind, readonly [onHand: number, allocated: number]>> = {
  [StockMovementKind.RECEIPT]: [1, 0],
  [StockMovementKind.ADJUSTMENT]: [1, 0],
  [StockMovementKind.RETURN]: [1, 0],
  [StockMovementKind.ALLOCATION]: [0, 1],
  [StockMovementKind.RELEASE]: [0, 1],
  [StockMovementKind.SHIPMENT]: [1, 1],
  [StockMovementKind.RECALL]: [0, 0],
};

/** Writes a movement and what it does to level and lot; the caller holds the lock. Quantities are signed: a shipment is negative. */
export async function move(ctx: Context, one: Movement, lotId: string | null = null): Promise<void> {
  const [onHand, allocated] = EFFECTS[one.kind].map(sign => sign * one.quantity);
  const now = ctx.now().toISOString();
  await ctx.sql(MOVEMENT, [
    newId(),
    one.variantId,
    one.locationId,
    one.lotNumber,
    one.kind,
    one.quantity,
    one.reference,
    actorOf(ctx.caller),
    now,
  ]);
  await ctx.sql(
    `update commerce.inventory_level set on_hand = on_hand + $3, allocated = allocated + $4, updated_at = $5 where variant_id = $1 and location_id = $2`,
    [one.variantId, one.locationId, onHand, allocated, now],
  );
  if (lotId === null) return;
  await ctx.sql(
    `update commerce.inventory_lot set on_hand = on_hand + $2, allocated = allocated + $3, updated_at = $4, version = version + 1,
       status = case when status = 'available' and on_hand + $2 = 0 then 'depleted' when status = 'depleted' and on_hand + $2 > 0 then 'available' else status end
     where id = $1`,
    [lotId, onHand, allocated, now],
  );
}

interface Reservation {
  id: string;
  kind: string;
  cartItemId: string | null;
  quantity: number;
  createdAt: string;
}

const HELD = `select id, kind, cart_item_id as "cartItemId", quantity, created_at::text as "createdAt" from commerce.stock_reservation
where variant_id = $1 and expires_at > $2`;

/** Ends reservations of a variant until the rest has cover: CART before SUBSCRIPTION before CHECKOUT, the newest first. */
async function endUncovered(ctx: Context, variantId: string): Promise<void> {
  for (const one of endingOrder(await ctx.sql<Reservation>(HELD, [variantId, ctx.now().toISOString()]))) {
    const stock = (await stockOf(ctx, [variantId])).get(variantId)!;
    if (!stock.tracked || stock.available + (stock.backorder === 'allow' ? stock.backorderLimit : 0) >= 0) return;
    if (one.cartItemId === null) await ctx.sql('delete from commerce.stock_reservation where id = $1', [one.id]);
    else {
      await ctx.sql('delete from commerce.stock_reservation where cart_item_id = $1', [one.cartItemId]);
      await ctx.sql('update commerce.cart_item set lost_cover = true where id = $1', [one.cartItemId]);
    }
  }
}

/** Judges the reservations of variants again, after their lots or levels changed; the caller holds the lock. Source: commerce 2. */
export async function rejudge(ctx: Context, variantIds: Iterable<string>): Promise<void> {
  for (const id of [...new Set(variantIds)].sort()) await endUncovered(ctx, id);
}
