import { messageSendRequested } from '../../../events/catalogue/comms.js';
import { newId } from '../../../runtime/data/ids.js';
import { findRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { ProductStatus, PurchaseRequirement } from '../entities/enums.js';
import { StockNotice } from '../entities/inventory.js';
import { Product, ProductVariant } from '../entities/product.js';
import { stockOf } from '../queries/stock.js';
import { takeable } from '../rules/stock.js';

const MOST_OPEN = 50;

/** @throws Problem not_found, conflict `in_stock` or `too_many`. */
export async function requestStockNotice(ctx: Context, variantId: string): Promise<StockNotice> {
  const id = variantId.toLowerCase();
  const variant = await requireRow(ctx, ProductVariant, { id }, 'No such variant');
  const product = await requireRow(ctx, Product, { id: variant.productId, status: ProductStatus.ACTIVE }, 'No such variant');
  if (product.purchaseRequirement === PurchaseRequirement.PRESCRIPTION)
    fail('conflict', 'There are no notices for it', { reason: 'not_offered' });
  if (takeable((await stockOf(ctx, [id])).get(id)!) > 0) fail('conflict', 'It is in stock', { reason: 'in_stock' });
  const userId = ctx.caller.userId!;
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 44))', [userId]);
  const open = await ctx.em.find(StockNotice, { userId, closedAt: null });
  const known = open.find(one => one.variantId === id);
  if (known) return known;
  if (open.length >= MOST_OPEN) fail('conflict', 'Too many notices are open', { reason: 'too_many' });
  const notice = Object.assign(new StockNotice(), { userId, variantId: id, createdAt: ctx.now() });
  ctx.em.persist(notice);
  return notice;
}

/** @throws Problem not_found. */
export async function cancelStockNotice(ctx: Context, id: string): Promise<StockNotice> {
  const notice =
    (await findRow(ctx, StockNotice, { id: id.toLowerCase(), userId: ctx.caller.userId!, closedAt: null })) ??
    fail('not_found', 'No such notice');
  notice.closedAt = ctx.now();
  return notice;
}

/** What depends on variants: themselves and the bundles of which they are a part. */
const DEPENDENT = `select n.id from commerce.stock_notice n where n.closed_at is null and
  (n.variant_id = any($1) or n.variant_id in (select variant_id from commerce.variant_component where component_id = any($1))) order by n.id for update`;

/** One event each, far below the 1,000 people that a transaction may tell. */
const TOLD_TOGETHER = 500;

function tell(ctx: Context, { id, userId, variantId }: StockNotice): void {
  ctx.emit(
    messageSendRequested,
    {
      request_id: newId(),
      template: 'back_in_stock',
      channels: ['email', 'push', 'in_app'],
      recipient_type: 'user',
      recipient_id: userId,
      params: { variant_id: variantId },
      dedupe_key: `stock:${id}`,
      send_after: null,
      category: 'transactional',
    },
    { userId },
  );
}

/** Of locked notices those are told and closed whose variant can be bought now; the others go on waiting. */
async function tellWhereInStock(ctx: Context, ids: readonly string[]): Promise<void> {
  const notices = await ctx.em.find(StockNotice, { id: { $in: [...ids] } });
  const stock = await stockOf(
    ctx,
    notices.map(one => one.variantId),
  );
  for (const notice of notices) {
    notice.dueAt = null;
    if (takeable(stock.get(notice.variantId)!) <= 0) continue;
    Object.assign(notice, { notifiedAt: ctx.now(), closedAt: ctx.now() });
    tell(ctx, notice);
  }
}

/** Tells each who waits for a variant that is there again, once; then the notice is closed. Of many the timer tells the next. */
export async function notifyStock(ctx: Context, variantIds: readonly string[]): Promise<void> {
  const ids = (await ctx.sql<{ id: string }>(DEPENDENT, [variantIds])).map(one => one.id);
  await tellWhereInStock(ctx, ids.slice(0, TOLD_TOGETHER));
  const later = ids.slice(TOLD_TOGETHER);
  if (later.length > 0) await ctx.sql('update commerce.stock_notice set due_at = $2 where id = any($1)', [later, ctx.now().toISOString()]);
}

const DUE = `select id from commerce.stock_notice where due_at <= $1 and closed_at is null order by due_at, id limit ${TOLD_TOGETHER} for update skip locked`;

/** The next of many who wait for a variant that is there again. */
export async function tellDueNotices(ctx: Context, at: Date): Promise<void> {
  const rows = await ctx.sql<{ id: string }>(DUE, [at.toISOString()]);
  await tellWhereInStock(
    ctx,
    rows.map(one => one.id),
  );
}
