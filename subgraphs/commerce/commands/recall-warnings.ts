import { messageSendRequested } from '../../../events/catalogue/comms.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';

/** One event each, far below the 1,000 people that a transaction may tell; orders are settled in it, too. */
const WARNED_TOGETHER = 400;

/** Whose buyer was warned already is not noted again. */
const NOTE = `
insert into commerce.recall_warning (recall_id, order_id)
select $1, o.id from commerce.shop_order o where o.id = any($2) and o.user_id is not null and not o.is_erased and not exists (
  select from commerce.recall_warning told join commerce.shop_order own on own.id = told.order_id
  where told.recall_id = $1 and told.told_at is not null and own.user_id = o.user_id)
on conflict do nothing`;

/** Notes whose buyers are to be warned of a recall. */
export async function noteOrders(ctx: Context, recallId: string, orderIds: readonly string[]): Promise<void> {
  if (orderIds.length > 0) await ctx.sql(NOTE, [recallId, orderIds]);
}

const SHIPPED = `
select distinct i.order_id as id from commerce.order_item_lot a join commerce.order_item i on i.id = a.order_item_id
where a.lot_id = any($1) and a.shipped > 0`;

/** Notes all orders of which units were shipped out of the lots. */
export async function noteBuyers(ctx: Context, recallId: string, lotIds: readonly string[]): Promise<void> {
  const rows = await ctx.sql<{ id: string }>(SHIPPED, [lotIds]);
  await noteOrders(
    ctx,
    recallId,
    rows.map(one => one.id),
  );
}

/** The next buyers who were not warned, with their newest order and how many there are; all of these are told from here on. */
const NEXT = `
with buyer as (
  select o.user_id, array_agg(o.id) as order_ids, count(*)::int as orders, (array_agg(o.number order by o.created_at desc, o.id desc))[1] as newest
  from commerce.recall_warning w join commerce.shop_order o on o.id = w.order_id
  where w.recall_id = $1 and w.told_at is null and not o.is_erased group by o.user_id order by o.user_id limit ${WARNED_TOGETHER}
), told as (
  update commerce.recall_warning w set told_at = $2 from buyer b where w.recall_id = $1 and w.order_id = any(b.order_ids)
)
select user_id as "userId", orders, newest, (select lot_number from commerce.inventory_lot where recall_id = $1 limit 1) as "lotNumber" from buyer`;

interface Buyer {
  userId: string;
  orders: number;
  newest: string;
  lotNumber: string;
}

/** One message to each of the next buyers of units that were shipped or cancelled. @returns their number. */
export async function warnNext(ctx: Context, recallId: string): Promise<number> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`recall-warnings:${recallId}`]);
  const buyers = await ctx.sql<Buyer>(NEXT, [recallId, ctx.now().toISOString()]);
  for (const { userId, orders, newest, lotNumber } of buyers)
    ctx.emit(
      messageSendRequested,
      {
        request_id: newId(),
        template: 'product_recall',
        channels: ['email', 'sms', 'push', 'in_app'],
        recipient_type: 'user',
        recipient_id: userId,
        params: { order_number: newest, order_count: orders, lot_number: lotNumber },
        dedupe_key: `recall:${recallId}:${userId}`,
        send_after: null,
        category: 'transactional',
      },
      { userId },
    );
  return buyers.length;
}

/** A recall that has buyers who were not warned. */
export const UNWARNED = `
select w.recall_id as "recallId" from commerce.recall_warning w join commerce.shop_order o on o.id = w.order_id
where w.told_at is null and not o.is_erased order by w.recall_id limit 1`;

/** The next buyers of a recall of many. */
export async function warnDue(ctx: Context): Promise<void> {
  const [due] = await ctx.sql<{ recallId: string }>(UNWARNED);
  if (due) await warnNext(ctx, due.recallId);
}
