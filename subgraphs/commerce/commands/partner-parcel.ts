import { newId } from '../../../runtime/data/ids.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import type { OrderFulfillmentStatus } from '../entities/enums.js';
import { Order } from '../entities/order.js';
import { itemRows, type ItemRow } from '../queries/order.js';
import { lockOrder } from './order-row.js';
import { moveParcel } from './order.js';

/** The line of ours that an order of the pharmacy is for. */
export interface PartnerLine {
  orderId: string;
  /** Null: all that need a prescription. */
  lineId: string | null;
}

const KNOWN = 'select id from commerce.order_fulfillment where external_ref = $1';
/** The parcel that was promised when the line was handed over, and still has no reference of the pharmacy's own. */
const PROMISED = `
select id from commerce.order_fulfillment
where order_id = $1 and provider = 'partner' and items @> $2::jsonb and (external_ref is null or external_ref like 'embedded-%') limit 1`;
const NAME = 'update commerce.order_fulfillment set external_ref = $2, updated_at = $3 where id = $1';
const INSERT = `
insert into commerce.order_fulfillment (id, order_id, status, provider, items, external_ref, created_at, updated_at)
values ($1, $2, 'pending', 'partner', $3, $4, $5, $5) on conflict (external_ref) do nothing`;

/** Whether the pharmacy's order has a parcel here already; then nobody has to be asked whose it is. */
export const isKnownParcel = async (ctx: Context, ref: string): Promise<boolean> => (await ctx.sql(KNOWN, [ref])).length > 0;

const isMeant = (line: ItemRow, lineId: string | null): boolean =>
  lineId === null ? line.requirement === 'prescription' : line.id === lineId;

/** Gives the pharmacy's reference to the parcel of its lines, which is made where there is none. An order that is not ours is ignored. */
async function linkParcel(ctx: Context, ref: string, { orderId, lineId }: PartnerLine): Promise<void> {
  if (!(await findRow(ctx, Order, { id: orderId }))) return;
  const order = await lockOrder(ctx, orderId);
  const lines = (await itemRows(ctx, [order.id])).filter(line => isMeant(line, lineId));
  if (lines.length === 0 || (await isKnownParcel(ctx, ref))) return;
  const items = JSON.stringify(lines.map(({ id, quantity }) => ({ itemId: id, quantity })));
  const [promised] = await ctx.sql<{ id: string }>(PROMISED, [order.id, items]);
  const now = ctx.now().toISOString();
  if (promised) await ctx.sql(NAME, [promised.id, ref, now]);
  else await ctx.sql(INSERT, [newId(), order.id, items, ref, now]);
  ctx.audit('order.partner_linked', order.id, { lines: lines.length });
}

/**
 * What the pharmacy says of one of its orders: the parcel goes on, never back. @param line whose it is, where the reference was not known;
 * null: nobody of ours. @param to null: nothing moves yet. Source: commerce 5.
 */
export async function reportPartnerParcel(
  ctx: Context,
  ref: string,
  line: PartnerLine | null,
  to: OrderFulfillmentStatus | null,
  carrier: { carrier?: string; trackingNumber?: string } = {},
): Promise<void> {
  if (line) await linkParcel(ctx, ref, line);
  const [parcel] = await ctx.sql<{ id: string }>(KNOWN, [ref]);
  if (parcel && to !== null) await moveParcel(ctx, parcel.id, to, carrier);
}
