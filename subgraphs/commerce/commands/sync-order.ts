import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import {
  FulfillmentStatus,
  OrderCancelReason,
  OrderPaymentStatus,
  OrderSource,
  OrderStatus,
  PurchaseRequirement,
} from '../entities/enums.js';
import { Order } from '../entities/order.js';
import type { Brand } from '../ports/brands.js';
import { linkOf } from '../queries/storefront-link.js';
import { failed, orderFault, orderHash, orderSums, skipped, type Outcome } from '../rules/storefront.js';
import type { StorefrontLine, StorefrontOrder } from '../rules/storefront-record.js';
import { draftOrder, type DraftPrices, type SoldLine } from './order-draft.js';
import { cancelPlaced, placeChannelOrder } from './order-outcome.js';
import { lockOrder } from './order-row.js';
import { lockDemand } from './stock.js';
import { writeLink } from './storefront-link.js';

interface Variant {
  sku: string;
  variantId: string;
  productId: string;
  title: string;
  variantTitle: string;
  requiresShipping: boolean;
  requirement: PurchaseRequirement;
}

const VARIANTS = `
select v.sku, v.id as "variantId", p.id as "productId", p.title, v.title as "variantTitle", p.purchase_requirement as requirement,
  v.requires_shipping as "requiresShipping"
from commerce.product_variant v join commerce.product p on p.id = v.product_id where v.sku = any($1) and p.brand_id = $2`;

function soldLine(variant: Variant, { quantity, unitPrice, discount, tax }: StorefrontLine, taxIncluded: boolean): SoldLine {
  const subtotal = unitPrice * quantity;
  const total = subtotal - discount + (taxIncluded ? 0 : tax);
  return { ...variant, cadence: '', quantity, unitPrice, subtotal, discount, tax, total };
}

/** Lines as they were sold. @throws Problem conflict: it holds what we do not sell, or what no channel may sell. */
async function soldLines(ctx: Context, brandId: string, { lines, taxIncluded }: StorefrontOrder): Promise<SoldLine[]> {
  const rows = await ctx.sql<Variant>(VARIANTS, [lines.map(one => one.sku), brandId]);
  const bySku = new Map(rows.map(one => [one.sku, one]));
  return lines.map(line => {
    const variant = bySku.get(line.sku) ?? fail('conflict', 'No such sku', { reason: 'unknown_sku' });
    if (variant.requirement === PurchaseRequirement.PRESCRIPTION)
      fail('conflict', 'No channel may sell it', { reason: 'prescription_not_sold_here' });
    return soldLine(variant, line, taxIncluded);
  });
}

const pricesOf = (order: StorefrontOrder, lines: SoldLine[]): DraftPrices => ({
  totals: orderSums(order),
  taxLines: [],
  method: null,
  lines,
});

/** Makes an order that was paid elsewhere: it counts at once, also beyond what is there. */
async function importOrder(ctx: Context, system: string, brand: Brand, record: StorefrontOrder, userId: string | null): Promise<Order> {
  const lines = await soldLines(ctx, brand.id, record);
  await lockDemand(ctx, lines);
  const order = await draftOrder(ctx, {
    brand,
    priced: pricesOf(record, lines),
    personalData: record.personal,
    userId,
    source: OrderSource.CHANNEL,
    channel: system,
    externalId: record.externalId,
    currency: record.currency,
    country: record.country,
    paymentStatus: OrderPaymentStatus.EXTERNAL,
    settled: record.total,
  });
  await placeChannelOrder(ctx, order);
  return order;
}

/** What has become of an order elsewhere since: one that was given up there is given up here. Its money is the channel's. */
async function followOrder(ctx: Context, id: string, { isCancelled }: StorefrontOrder): Promise<void> {
  const order = await lockOrder(ctx, id);
  if (!isCancelled || order.status === OrderStatus.CANCELLED) return;
  if (order.fulfillmentStatus !== FulfillmentStatus.UNFULFILLED) fail('conflict', 'It is on its way', { reason: 'already_shipped' });
  await cancelPlaced(ctx, order, OrderCancelReason.OTHER);
}

/** Takes an order of the storefront over, once. @param userId whose it is; null: nobody known. Source: commerce 7.29. */
export async function takeOrder(
  ctx: Context,
  system: string,
  brand: Brand,
  record: StorefrontOrder,
  userId: string | null,
): Promise<Outcome> {
  const { externalId } = record;
  const contentHash = orderHash(record);
  const link = await linkOf(ctx, system, 'order', externalId);
  if (link?.contentHash === contentHash) return { kind: 'unchanged' };
  if (!link && record.isCancelled) return skipped('cancelled_there');
  const fault = orderFault(record);
  if (fault !== null) return failed(fault);
  if (link) await followOrder(ctx, link.entityId, record);
  const entityId = link?.entityId ?? (await importOrder(ctx, system, brand, record, userId)).id;
  await writeLink(ctx, system, 'order', { entityId, externalId, contentHash });
  return { kind: link ? 'updated' : 'created' };
}
