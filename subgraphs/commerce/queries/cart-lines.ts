import type { Context } from '../../../runtime/request/context.js';
import { BackorderPolicy, ProductStatus, PurchaseRequirement } from '../entities/enums.js';
import { demandOf, stockOf } from './stock.js';
import { takeable } from '../rules/stock.js';

/** A variant as it can be bought in one market now; minor units, null where it is not sold. */
export interface Offered {
  variantId: string;
  productId: string;
  brandId: string;
  sku: string;
  title: string;
  variantTitle: string;
  status: ProductStatus;
  requirement: PurchaseRequirement;
  entitlementKey: string | null;
  medicationCode: string | null;
  taxCategory: string;
  offers: { cadence: { unit: string; count: number }; discountBps: number }[];
  maxPerOrder: number;
  weightGrams: number;
  requiresShipping: boolean;
  backorder: BackorderPolicy;
  amount: number | null;
  compareAt: number | null;
  taxInclusive: boolean;
}

const OFFERED = `
  v.id as "variantId", p.id as "productId", p.brand_id as "brandId", v.sku, p.title, v.title as "variantTitle", p.status,
  p.purchase_requirement as requirement, p.entitlement_key as "entitlementKey", p.medication_code as "medicationCode", p.tax_category as "taxCategory",
  p.offers, v.max_per_order as "maxPerOrder", coalesce(v.weight_grams, 0) as "weightGrams", v.requires_shipping as "requiresShipping", v.backorder,
  price.amount::float8 as amount, price.compare_at::float8 as "compareAt", coalesce(price.tax_inclusive, false) as "taxInclusive"`;

/** The price that holds now: that of the country before that of everywhere. `$2` currency, `$3` country, `$4` the instant. */
const JOINED = `
  commerce.product_variant v join commerce.product p on p.id = v.product_id
  left join lateral (
    select amount, compare_at, tax_inclusive from commerce.variant_price r
    where r.variant_id = v.id and r.brand_id = p.brand_id and r.currency = $2 and r.country in ('', $3)
      and (r.starts_at is null or r.starts_at <= $4) and (r.ends_at is null or r.ends_at > $4)
    order by r.country desc limit 1) price on true`;

export interface Market {
  currency: string;
  country: string;
}

/** Variants as they can be bought in a market now. */
export async function offeredVariants(ctx: Context, ids: readonly string[], { currency, country }: Market): Promise<Map<string, Offered>> {
  const text = `select ${OFFERED} from ${JOINED} where v.id = any($1)`;
  const rows = await ctx.sql<Offered>(text, [[...new Set(ids)], currency, country, ctx.now().toISOString()]);
  return new Map(rows.map(row => [row.variantId, row]));
}

/** A line of a cart with what is sold now. */
export interface CartLine extends Offered {
  id: string;
  quantity: number;
  cadence: string;
  unitPriceWhenAdded: number;
  lostCover: boolean;
  /** Units that are held for it. */
  reserved: number;
  reservedUntil: Date | null;
  /** Units that it could have now, its own included. */
  takeable: number;
}

type Row = Omit<CartLine, 'reserved' | 'reservedUntil' | 'takeable'>;

const LINES = `
select i.id, i.quantity, i.cadence, i.unit_price_when_added::float8 as "unitPriceWhenAdded", i.lost_cover as "lostCover", ${OFFERED}
from commerce.cart_item i join ${JOINED.trim().replace('commerce.product_variant v join', 'commerce.product_variant v on v.id = i.variant_id join')}
where i.cart_id = $1 order by i.created_at, i.id`;

const HELD = `
select cart_item_id as "itemId", order_id as "orderId", variant_id as "variantId", quantity, (extract(epoch from expires_at) * 1000)::float8 as "until"
from commerce.stock_reservation where (cart_id = $1 or order_id = $2) and expires_at > $3`;

interface Held {
  itemId: string | null;
  orderId: string | null;
  variantId: string;
  quantity: number;
  until: number;
}

/** The lines of a cart, in the order in which they came: five statements, whatever their number. */
export async function cartLines(ctx: Context, cart: { id: string; orderId: string | null } & Market): Promise<CartLine[]> {
  const now = ctx.now().toISOString();
  const rows = await ctx.sql<Row>(LINES, [cart.id, cart.currency, cart.country, now]);
  const held = await ctx.sql<Held>(HELD, [cart.id, cart.orderId, now]);
  const demands = await demandOf(
    ctx,
    rows.map(({ variantId, quantity }) => ({ variantId, quantity })),
  );
  const stock = await stockOf(
    ctx,
    rows.map(one => one.variantId),
  );
  const tracked = await stockOf(
    ctx,
    demands.flatMap(one => [...one.keys()]),
  );
  return rows.map((row, index) => {
    const own = held.filter(one => one.itemId === row.id || one.orderId !== null);
    const isHeld = [...demands[index]!].every(
      ([id, needed]) =>
        !tracked.get(id)!.tracked || own.filter(one => one.variantId === id).reduce((sum, one) => sum + one.quantity, 0) >= needed,
    );
    const counted = [...demands[index]!.keys()].some(id => tracked.get(id)!.tracked);
    const until = own.filter(one => one.itemId === row.id).map(one => one.until);
    return {
      ...row,
      reserved: isHeld && counted ? row.quantity : 0,
      reservedUntil: until.length > 0 ? new Date(Math.min(...until)) : null,
      takeable: isHeld ? Infinity : takeable(stock.get(row.variantId)!),
    };
  });
}
