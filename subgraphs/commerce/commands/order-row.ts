import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { Order } from '../entities/order.js';
import { lockHeld } from './stock.js';

/**
 * An order, locked. Rows are locked in one order everywhere, so that nobody locks another out: order, cart, stock, subscription with its
 * cycle, the brand's counter of numbers; what somebody does not need is left out. @throws Problem not_found.
 */
export const lockOrder = (ctx: Context, id: string): Promise<Order> => lockRow(ctx, Order, { id }, 'No such order');

/** An order that a subscription has made, and the stock that it holds, before the subscription. @throws Problem not_found. */
export async function lockRenewalOrder(ctx: Context, id: string): Promise<Order> {
  const order = await lockOrder(ctx, id);
  await lockHeld(ctx, 'order_id', [id]);
  return order;
}

export function touchOrder(ctx: Context, order: Order): void {
  order.updatedAt = ctx.now();
  order.version += 1;
}
