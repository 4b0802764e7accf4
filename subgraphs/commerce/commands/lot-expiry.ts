import type { Context } from '../../../runtime/request/context.js';
import { todayOf } from '../queries/stock.js';
import { SELLABLE_DAYS } from '../rules/stock.js';
import { lockJudged, rejudge } from './stock.js';

const ENDING = `
select distinct variant_id as id from commerce.inventory_lot where status = 'available' and expires_on is not null and on_hand > 0
  and expires_on <= $1::date + ${SELLABLE_DAYS} and expires_on > $1::date + ${SELLABLE_DAYS - 3}`;

/** Variants of which a lot has just come to have too little time left: what is reserved of them is judged again. Source: commerce 2. */
export async function rejudgeLots(ctx: Context): Promise<void> {
  const ids = (await ctx.sql<{ id: string }>(ENDING, [todayOf(ctx)])).map(one => one.id);
  await lockJudged(ctx, ids);
  await rejudge(ctx, ids);
}
