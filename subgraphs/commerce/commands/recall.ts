import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { InventoryLotStatus, StockMovementKind } from '../entities/enums.js';
import type { RecallReport } from '../entities/inventory.js';
import type { RecallLotInput } from '../inputs/inventory.js';
import { lotRecall, lotsOf } from '../queries/recall.js';
import { variantOf } from './inventory.js';
import { holdsUnshipped, lockConcerned, settleOrders, type Outcome } from './recall-orders.js';
import { noteBuyers, noteOrders, warnNext } from './recall-warnings.js';
import { move, rejudge } from './stock.js';

/** From here on the lots are sold and shipped no more. */
const RECALL = `
update commerce.inventory_lot set status = 'recalled', recall_id = $2, settle_at = $3, version = version + 1, updated_at = $3 where id = any($1)
returning location_id as "locationId"`;

/** Settles the orders of one transaction; the mark on the lots goes when none is left. */
async function settleNext(ctx: Context, variantId: string, recallId: string, lotIds: string[], orderIds: string[]): Promise<Outcome> {
  const outcome = await settleOrders(ctx, orderIds, lotIds);
  await noteOrders(ctx, recallId, outcome.lost);
  await rejudge(ctx, [variantId]);
  if (!(await holdsUnshipped(ctx, lotIds)))
    await ctx.sql('update commerce.inventory_lot set settle_at = null where id = any($1)', [lotIds]);
  return outcome;
}

/**
 * Recalls a lot at all locations: it is sold and shipped no more, what was not shipped of it is covered by other lots or cancelled, and its
 * buyers are warned, each once. Of many the first 50 orders are settled and the first 400 buyers warned at once, and the report counts
 * these; the timers go on with the others. Again: nothing. Source: commerce 3, 4.2.
 */
export async function recallLot(ctx: Context, { sku, lotNumber, reason }: RecallLotInput): Promise<RecallReport> {
  const variant = await variantOf(ctx, sku);
  const before = (await lotsOf(ctx, sku, lotNumber)).map(one => one.id);
  const orders = await lockConcerned(ctx, variant.id, before);
  const lots = await lotsOf(ctx, sku, lotNumber);
  if (lots.every(one => one.status === InventoryLotStatus.RECALLED)) return lotRecall(ctx, sku, lotNumber);
  const recallId = lots.find(one => one.recallId !== null)?.recallId ?? newId();
  const ids = lots.map(one => one.id);
  const [place] = await ctx.sql<{ locationId: string }>(RECALL, [ids, recallId, ctx.now().toISOString()]);
  const reference = `recall:${recallId}`;
  const { moved, cancelled } = await settleNext(ctx, variant.id, recallId, ids, orders);
  await move(ctx, {
    variantId: variant.id,
    locationId: place!.locationId,
    lotNumber,
    kind: StockMovementKind.RECALL,
    quantity: 0,
    reference,
  });
  await noteBuyers(ctx, recallId, ids);
  const noticesSent = await warnNext(ctx, recallId);
  ctx.audit('inventory_lot.recalled', recallId, { lots: ids.length, moved, cancelled, reason_length: reason.length });
  return { ...(await lotRecall(ctx, sku, lotNumber)), movedToOtherLots: moved, cancelled, noticesSent };
}

const UNSETTLED = `
select recall_id as "recallId", variant_id as "variantId", array_agg(id order by id) as ids from commerce.inventory_lot
where recall_id = (select recall_id from commerce.inventory_lot where settle_at <= $1 order by settle_at, id limit 1) group by 1, 2`;

/** The next orders of a recall of many. */
export async function settleDue(ctx: Context, at: Date): Promise<void> {
  const [due] = await ctx.sql<{ recallId: string; variantId: string; ids: string[] }>(UNSETTLED, [at.toISOString()]);
  if (!due) return;
  const orders = await lockConcerned(ctx, due.variantId, due.ids);
  const { moved, cancelled } = await settleNext(ctx, due.variantId, due.recallId, due.ids, orders);
  if (orders.length > 0) ctx.audit('inventory_lot.recall_settled', due.recallId, { orders: orders.length, moved, cancelled });
}
