import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { InventoryLotStatus } from '../entities/enums.js';
import type { RecalledOrder, RecallReport } from '../entities/inventory.js';

const LOTS = `
select lot.id, lot.status, lot.recall_id as "recallId" from commerce.inventory_lot lot join commerce.product_variant v on v.id = lot.variant_id
where v.sku = $1 and lot.lot_number = $2 order by lot.id`;

/** The lots of a number at all locations. @throws Problem not_found. */
export async function lotsOf(
  ctx: Context,
  sku: string,
  lotNumber: string,
): Promise<{ id: string; status: InventoryLotStatus; recallId: string | null }[]> {
  const lots = await ctx.sql<{ id: string; status: InventoryLotStatus; recallId: string | null }>(LOTS, [sku, lotNumber]);
  return lots.length > 0 ? lots : fail('not_found', 'No such lot');
}

const ORDERS = `
select o.id as "orderId", o.number, o.user_id as "userId", o.is_erased as "isErased", sum(a.shipped)::int as shipped,
  sum(a.quantity - a.shipped)::int as unshipped, sum(a.returned)::int as returned
from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id join commerce.shop_order o on o.id = i.order_id
where a.lot_id = any($1) group by o.id order by o.number`;

type Row = Omit<RecalledOrder, 'user'> & { userId: string | null; isErased: boolean };

/** Where a lot went: who must be warned. Erased buyers are counted only. Source: commerce 4.2. */
export async function lotRecall(ctx: Context, sku: string, lotNumber: string): Promise<RecallReport> {
  const lots = await lotsOf(ctx, sku, lotNumber);
  const rows = await ctx.sql<Row>(ORDERS, [lots.map(one => one.id)]);
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const named = rows.filter(one => !one.isErased);
  return {
    recallId: lots[0]!.recallId,
    sku,
    lotNumber,
    status: lots.some(one => one.status === InventoryLotStatus.RECALLED) ? InventoryLotStatus.RECALLED : lots[0]!.status,
    orders: named.map(({ userId, orderId, number, shipped, unshipped, returned }) => ({
      orderId,
      number,
      shipped,
      unshipped,
      returned,
      user: userId === null ? null : { id: userId },
    })),
    totals: { shipped: sum(one => one.shipped), unshipped: sum(one => one.unshipped), returned: sum(one => one.returned) },
    erasedBuyers: new Set(rows.filter(one => one.isErased).map(one => one.userId)).size,
    movedToOtherLots: 0,
    cancelled: 0,
    noticesSent: 0,
  };
}
