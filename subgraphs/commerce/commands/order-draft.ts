import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import type { PersonalData } from '../entities/cart.js';
import { OrderAdjustmentKind, PurchaseRequirement } from '../entities/enums.js';
import { Order } from '../entities/order.js';
import type { Brand } from '../ports/brands.js';
import type { PricedCart, PricedCartLine } from '../queries/priced-cart.js';
import type { PricedTotals } from '../rules/pricing.js';
import { demandOf } from '../queries/stock.js';
import { sealPersonal } from './personal.js';

const NEXT = `
insert into commerce.order_counter (brand_id, last) values ($1, 1) on conflict (brand_id) do update set last = commerce.order_counter.last + 1 returning last`;

/** `<slug>-<8 digits>`, the next of the brand. */
export async function nextNumber(ctx: Context, brand: Pick<Brand, 'id' | 'slug'>): Promise<string> {
  const [row] = await ctx.sql<{ last: number }>(NEXT, [brand.id]);
  return `${brand.slug}-${String(row!.last).padStart(8, '0')}`;
}

const ITEMS = `
insert into commerce.order_item (id, order_id, position, product_id, variant_id, sku, title, option_text, requirement, requires_shipping, quantity,
  unit_price, subtotal, discount, tax, total, cadence, demand)
select r.id, $1, r.position, r."productId", r."variantId", r.sku, r.title, r."optionText", r.requirement, r."requiresShipping", r.quantity,
  r."unitPrice", r.subtotal, r.discount, r.tax, r.total, r.cadence, r.demand
from jsonb_to_recordset($2::jsonb) as r(id uuid, position int, "productId" uuid, "variantId" uuid, sku text, title text, "optionText" text, requirement text,
  "requiresShipping" boolean, quantity int, "unitPrice" bigint, subtotal bigint, discount bigint, tax bigint, total bigint, cadence text, demand jsonb)`;

/** A line as it is sold now; minor units. */
export type SoldLine = Pick<
  PricedCartLine,
  | 'productId'
  | 'variantId'
  | 'sku'
  | 'title'
  | 'variantTitle'
  | 'requirement'
  | 'requiresShipping'
  | 'quantity'
  | 'subtotal'
  | 'discount'
  | 'tax'
  | 'total'
  | 'cadence'
> & { unitPrice: number };

/** Writes the lines of an order: one statement, whatever their number. @returns their ids. */
export async function writeItems(ctx: Context, orderId: string, lines: readonly SoldLine[]): Promise<string[]> {
  await ctx.em.flush();
  const demands = await demandOf(ctx, lines);
  const rows = lines.map((line, position) => ({
    ...line,
    id: newId(),
    position,
    optionText: line.variantTitle === line.title ? null : line.variantTitle,
    demand: Object.fromEntries(demands[position]!),
  }));
  await ctx.sql(ITEMS, [orderId, JSON.stringify(rows)]);
  return rows.map(({ id }) => id);
}

/** What an order costs: a cart as it is priced, or an order that somebody else has priced. */
export type DraftPrices = Pick<PricedCart, 'taxLines' | 'method'> & {
  totals: PricedTotals;
  lines: readonly (Omit<SoldLine, 'unitPrice'> & { unitPrice: number | null })[];
};

/** What an order is made of. */
export interface OrderDraft extends Partial<Order> {
  brand: Brand;
  priced: DraftPrices;
  personalData: PersonalData | null;
}

/** An order that waits for its payment, with its lines as they are sold now. */
export async function draftOrder(ctx: Context, { brand, priced, personalData, ...given }: OrderDraft): Promise<Order> {
  const { subtotal, discount, shipping, tax, total, taxIncluded } = priced.totals;
  const order = Object.assign(new Order(), {
    number: await nextNumber(ctx, brand),
    brandId: brand.id,
    ...given,
    subtotal,
    discount,
    shipping,
    tax,
    total,
    taxIncluded,
    storedTaxLines: priced.taxLines,
    shippingMethodCode: priced.method?.code ?? null,
    country: personalData?.shippingAddress?.countryCode ?? given.country ?? null,
    createdAt: ctx.now(),
    updatedAt: ctx.now(),
  });
  order.personal = sealPersonal(ctx, personalData, 'shop_order', order.id);
  await ctx.em.persist(order).flush();
  const ids = await writeItems(ctx, order.id, priced.lines as SoldLine[]);
  if (discount > 0) {
    const allocations = priced.lines.map((line, index) => ({ itemId: ids[index]!, amount: line.discount })).filter(one => one.amount > 0);
    order.storedAdjustments = [{ kind: OrderAdjustmentKind.PROMO, promoCode: order.promoCode, amount: discount, allocations }];
  }
  return order;
}

/** Whether something of it may only be sold to some. */
export const isRestricted = ({ requirement }: { requirement: PurchaseRequirement }): boolean => requirement !== PurchaseRequirement.NONE;
