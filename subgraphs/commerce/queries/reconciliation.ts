import type { Context } from '../../../runtime/request/context.js';
import type { CommerceBreach, CommerceReconciliation } from '../entities/sync.js';

/** Each answers breaches; `$1` and `$2` are the period. */
const CHECKS: readonly string[] = [
  `select 'placed_unpaid' as code, id as "orderId", null::uuid as "variantId", 'placed, and not settled with its total' as detail from commerce.shop_order
   where placed_at >= $1 and placed_at < $2 and payment_status <> 'external' and settled <> total`,
  `select 'paid_unplaced', o.id, null::uuid, 'settled, neither placed nor refunded' from commerce.shop_order o
   where o.created_at >= $1 and o.created_at < $2 and o.settled > 0 and o.placed_at is null
     and not exists (select 1 from commerce.payment_task t where t.order_id = o.id and t.kind = 'refund')`,
  `select 'level_differs', null::uuid, l.variant_id, 'on hand or allocated differ from the movements' from commerce.inventory_level l
   left join (select variant_id, location_id, sum(quantity) filter (where kind in ('receipt', 'adjustment', 'return', 'shipment')) as on_hand,
     sum(quantity) filter (where kind in ('allocation', 'release', 'shipment')) as allocated from commerce.stock_movement group by 1, 2) m
     on m.variant_id = l.variant_id and m.location_id = l.location_id
   where $1::timestamptz < $2::timestamptz and (l.on_hand <> coalesce(m.on_hand, 0) or l.allocated <> coalesce(m.allocated, 0))`,
  `select 'lots_differ', null::uuid, l.variant_id, 'the lots do not sum to the level' from commerce.inventory_level l
   join commerce.product_variant v on v.id = l.variant_id and v.lot_tracked
   left join (select variant_id, location_id, sum(on_hand) as on_hand, sum(allocated) as allocated from commerce.inventory_lot group by 1, 2) t
     on t.variant_id = l.variant_id and t.location_id = l.location_id
   where $1::timestamptz < $2::timestamptz and (l.on_hand <> coalesce(t.on_hand, 0) or l.allocated <> coalesce(t.allocated, 0))`,
];

const ORDERS = 'select count(*)::int as many from commerce.shop_order where created_at >= $1 and created_at < $2';

/** Whether every placed order is paid, every payment has an order or a refund, and stock is the sum of its movements. Source: commerce 7.7. */
export async function reconcile(ctx: Context, from: Date, to: Date): Promise<CommerceReconciliation> {
  const period = [from.toISOString(), to.toISOString()];
  const [counted] = await ctx.sql<{ many: number }>(ORDERS, period);
  const breaches = await ctx.sql<CommerceBreach>(CHECKS.join(' union all '), period);
  return { from, to, ordersChecked: counted!.many, breaches };
}
