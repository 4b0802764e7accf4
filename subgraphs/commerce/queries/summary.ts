import type { Context } from '../../../runtime/request/context.js';
import type { CommerceSummary } from '../entities/order.js';

const SUMS = `
select currency, count(*)::int as orders, (sum(total - refunded))::float8 as spend, (extract(epoch from max(placed_at)) * 1000)::float8 as last
from commerce.shop_order where user_id = $1 and placed_at is not null group by currency order by currency`;

/** What a member has ordered altogether. */
export async function summaryOf(ctx: Context, userId: string): Promise<CommerceSummary> {
  const rows = await ctx.sql<{ currency: string; orders: number; spend: number; last: number }>(SUMS, [userId]);
  return {
    ordersPlaced: rows.reduce((sum, one) => sum + one.orders, 0),
    lifetimeSpend: rows.map(({ currency, spend }) => ({ amount: spend, currency })),
    lastOrderAt: rows.length === 0 ? null : new Date(Math.max(...rows.map(one => one.last))),
  };
}
