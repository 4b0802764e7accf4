import type { Context } from '../../../runtime/request/context.js';
import { BackorderPolicy } from '../entities/enums.js';
import { bundleStock, SELLABLE_DAYS, type Stock } from '../rules/stock.js';

/** The day of the service's clock, `YYYY-MM-DD`, UTC. */
export const todayOf = (ctx: Context): string => ctx.now().toISOString().slice(0, 10);

/** What a lot must be for its units to count. `$2` is the day. Source: commerce 2, rule 10. */
export const SELLABLE = `lot.status = 'available' and (lot.expires_on is null or lot.expires_on > $2::date + ${SELLABLE_DAYS})`;

/** Stock of variants that are no bundles; `$1` ids, `$2` the day, `$3` the instant. */
const STOCK = `
select v.id, v.track_inventory as tracked, v.backorder, v.backorder_limit as "backorderLimit",
  (case when v.lot_tracked then coalesce(lots.free, 0) else coalesce(levels.free, 0) end - coalesce(levels.safety, 0) - coalesce(held.quantity, 0))::int as available
from commerce.product_variant v
left join lateral (
  select sum(l.on_hand - l.allocated) as free, sum(l.safety_stock) as safety from commerce.inventory_level l
  join commerce.inventory_location p on p.id = l.location_id and p.active where l.variant_id = v.id) levels on true
left join lateral (
  select sum(lot.on_hand - lot.allocated) as free from commerce.inventory_lot lot
  join commerce.inventory_location p on p.id = lot.location_id and p.active where lot.variant_id = v.id and ${SELLABLE}) lots on true
left join lateral (
  select sum(r.quantity) as quantity from commerce.stock_reservation r where r.variant_id = v.id and r.expires_at > $3) held on true
where v.id = any($1)`;

type Row = Stock & { id: string };

async function plainStock(ctx: Context, ids: readonly string[]): Promise<Map<string, Stock>> {
  if (ids.length === 0) return new Map();
  const rows = await ctx.sql<Row>(STOCK, [[...new Set(ids)], todayOf(ctx), ctx.now().toISOString()]);
  return new Map(rows.map(({ id, ...stock }) => [id, stock]));
}

export interface ComponentOf {
  variantId: string;
  componentId: string;
  quantity: number;
}

/** Components of the bundles among variants. */
export const componentsOf = (ctx: Context, ids: readonly string[]): Promise<ComponentOf[]> =>
  ctx.sql<ComponentOf>(
    'select variant_id as "variantId", component_id as "componentId", quantity from commerce.variant_component where variant_id = any($1) order by variant_id, component_id',
    [[...new Set(ids)]],
  );

const NOTHING: Stock = { tracked: true, available: 0, backorder: BackorderPolicy.DENY, backorderLimit: 0 };

/** Stock of variants, bundles by their components: two statements, whatever their number. */
export async function stockOf(ctx: Context, ids: readonly string[]): Promise<Map<string, Stock>> {
  const components = await componentsOf(ctx, ids);
  const bundles = new Set(components.map(one => one.variantId));
  const plain = await plainStock(ctx, [...ids.filter(id => !bundles.has(id)), ...components.map(one => one.componentId)]);
  const parts = (id: string) =>
    components.filter(one => one.variantId === id).map(one => ({ stock: plain.get(one.componentId) ?? NOTHING, quantity: one.quantity }));
  return new Map(ids.map(id => [id, bundles.has(id) ? bundleStock(parts(id)) : (plain.get(id) ?? NOTHING)]));
}

/** Stock of one variant, in a batch with all others that the request asks for. */
export const loadStock = async (ctx: Context, variantId: string): Promise<Stock> =>
  (await ctx.load('commerce.stock', variantId, async ids => {
    const found = await stockOf(ctx, ids as string[]);
    return ids.map(id => found.get(id) ?? NOTHING);
  })) ?? NOTHING;

/** Units by plain variant: bundles are taken apart. */
export type Demand = ReadonlyMap<string, number>;

/** What lines need of plain variants, those that are counted or not. */
export async function demandOf(ctx: Context, lines: readonly { variantId: string; quantity: number }[]): Promise<Demand[]> {
  const components = await componentsOf(
    ctx,
    lines.map(one => one.variantId),
  );
  return lines.map(({ variantId, quantity }) => {
    const parts = components.filter(one => one.variantId === variantId);
    return new Map(parts.length === 0 ? [[variantId, quantity]] : parts.map(one => [one.componentId, one.quantity * quantity]));
  });
}

/** Demand of several lines together. */
export function summed(demands: readonly Demand[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const demand of demands) for (const [id, quantity] of demand) total.set(id, (total.get(id) ?? 0) + quantity);
  return total;
}
