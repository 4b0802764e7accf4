import type { World } from './world.js';

/** Units of an allocation that are still in the house. */
const UNSHIPPED = 'sum(a.quantity - a.shipped)';

/** Rows that must not be; `$1` is the instant of the shop's clock. */
const NEVER: Readonly<Record<string, string>> = {
  'more promised than there is': `select v.sku as what from commerce.product_variant v
    left join lateral (select sum(on_hand - allocated) as free, sum(safety_stock) as safety from commerce.inventory_level l where l.variant_id = v.id) level on true
    left join lateral (select sum(on_hand - allocated) as free from commerce.inventory_lot l where l.variant_id = v.id and l.status = 'available'
      and (l.expires_on is null or l.expires_on > $1::timestamptz::date + 14)) lot on true
    where v.track_inventory and v.backorder = 'deny' and not v.is_bundle and coalesce(case when v.lot_tracked then lot.free else level.free end, 0)
      - coalesce(level.safety, 0) - coalesce((select sum(quantity) from commerce.stock_reservation r where r.variant_id = v.id and r.expires_at > $1), 0) < 0`,
  'less than nothing on a shelf': `select variant_id::text as what from commerce.inventory_level where on_hand < 0 or allocated > on_hand and $1::timestamptz is not null`,
  'levels that are not the sum of their movements': `select l.variant_id::text as what from commerce.inventory_level l
    left join (select variant_id, location_id, sum(quantity) filter (where kind not in ('allocation', 'release')) as on_hand,
      sum(quantity) filter (where kind in ('allocation', 'release', 'shipment')) as allocated from commerce.stock_movement group by 1, 2) m
      using (variant_id, location_id)
    where $1::timestamptz is not null and (l.on_hand <> coalesce(m.on_hand, 0) or l.allocated <> coalesce(m.allocated, 0))`,
  'levels that are not the sum of their lots': `select l.variant_id::text as what from commerce.inventory_level l
    join commerce.product_variant v on v.id = l.variant_id and v.lot_tracked
    left join (select variant_id, location_id, sum(on_hand) as on_hand, sum(allocated) as allocated from commerce.inventory_lot group by 1, 2) t
      using (variant_id, location_id)
    where $1::timestamptz is not null and (l.on_hand <> coalesce(t.on_hand, 0) or l.allocated <> coalesce(t.allocated, 0))`,
  'places whose allocations belong to no order': `select l.variant_id::text as what from commerce.inventory_level l
    left join (select variant_id, location_id, ${UNSHIPPED} as held from commerce.order_item_lot a group by 1, 2) a using (variant_id, location_id)
    where $1::timestamptz is not null and l.allocated <> coalesce(a.held, 0)`,
  'units of a recalled lot that are still to be shipped': `select lot.lot_number as what from commerce.inventory_lot lot
    join commerce.order_item_lot a on a.lot_id = lot.id where $1::timestamptz is not null and lot.status = 'recalled' group by 1 having ${UNSHIPPED} > 0`,
  'lines whose allocations are not what is left of them': `select i.id::text as what from commerce.order_item i join commerce.shop_order o on o.id = i.order_id
    cross join lateral jsonb_each_text(i.demand) d
    left join lateral (select ${UNSHIPPED} as held from commerce.order_item_lot a where a.order_item_id = i.id and a.variant_id = d.key::uuid) a on true
    where $1::timestamptz is not null and coalesce(a.held, 0) <>
      case when o.status in ('placed', 'completed') then (i.quantity - i.cancelled - i.fulfilled) * d.value::int / i.quantity else 0 end`,
  'reservations that nobody holds': `select coalesce(r.order_id, r.cart_item_id, r.id)::text as what from commerce.stock_reservation r
    where r.expires_at > $1 and not exists (select from commerce.cart_item i join commerce.cart c on c.id = i.cart_id
      where i.id = r.cart_item_id and c.status = 'active') and not exists (select from commerce.shop_order o where o.id = r.order_id and o.status = 'pending_payment')`,
  'orders that wait for payment and do not hold what they are of': `select o.id::text as what from commerce.shop_order o
    join (select i.order_id, d.key::uuid as variant_id, sum(d.value::int) as wanted from commerce.order_item i, jsonb_each_text(i.demand) d group by 1, 2) w on w.order_id = o.id
    left join (select order_id, variant_id, sum(quantity) as held from commerce.stock_reservation where expires_at > $1 group by 1, 2) r
      on r.order_id = o.id and r.variant_id = w.variant_id
    where o.status = 'pending_payment' and coalesce(r.held, 0) not in (0, w.wanted)`,
  'payments with neither an order nor their money back': `select p.order_id::text as what from commerce.embedded_payment p join commerce.shop_order o on o.id = p.order_id
    where $1::timestamptz is not null and p.status = 'COMPLETE' and o.settled <> 0 and p.refunded <> p.amount and o.status not in ('placed', 'completed')`,
  'orders that count and were not paid what they cost': `select o.id::text as what from commerce.shop_order o left join commerce.embedded_payment p on p.order_id = o.id
    where $1::timestamptz is not null and o.status in ('placed', 'completed')
      and (p.status is distinct from 'COMPLETE' or p.amount <> o.total or o.settled <> o.total or p.currency <> o.currency)`,
  'orders that were not told of once': `select o.id::text as what from commerce.shop_order o where $1::timestamptz is not null and (o.placed_at is not null)::int <>
      (select count(*) from events.outbox e where e.type = 'order.placed.v1' and e.data ->> 'order_id' = o.id::text)`,
  'shoppers with two open carts': `select user_id::text as what from commerce.cart where $1::timestamptz is not null and status = 'active' and user_id is not null
    group by user_id having count(*) > 1`,
};

/** Rows that break a law of the shop, in words. */
export async function brokenLaws({ shop, model }: World): Promise<string[]> {
  const found: string[] = [];
  for (const [law, text] of Object.entries(NEVER)) {
    const rows = await shop.p.sql<{ what: string }>(text, [new Date(model.now).toISOString()]);
    if (rows.length > 0) found.push(`${law}: ${rows.length}, one is ${rows[0]!.what}`);
  }
  const period = 'from=2020-01-01T00:00:00.000Z&to=2040-01-01T00:00:00.000Z';
  const { breaches } = await shop.ok('GET', `/admin/reconciliation?${period}`);
  return [...found, ...breaches.map((one: any) => `reconciliation: ${JSON.stringify(one)}`)];
}
