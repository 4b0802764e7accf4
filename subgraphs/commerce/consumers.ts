import { brandCacheInvalidated } from '../../events/catalogue/platform.js';
import { paymentFailed, paymentPaid, paymentRefunded } from '../../events/catalogue/payments.js';
import { handle, type Consumer } from '../../events/consumer.js';
import { findRow } from '../../runtime/data/rows.js';
import type { Context } from '../../runtime/request/context.js';
import { declineOrder, lockOrder, refundedOrder, settleOrder } from './commands/order-outcome.js';
import { Order } from './entities/order.js';
import { forgetBrands } from './ports/brands.js';

/** An order of ours, locked; null: it is none, or it was erased before it was paid. */
async function orderOf(ctx: Context, id: string | null): Promise<Order | null> {
  return id !== null && (await findRow(ctx, Order, { id })) ? lockOrder(ctx, id) : null;
}

/** What is settled is card, cash and credit together. Source: commerce 3. */
const paid = handle(paymentPaid, async (ctx: Context, { data }) => {
  const order = await orderOf(ctx, data.order_id);
  if (order) await settleOrder(ctx, order, { amount: data.total_amount + data.cash_amount + data.credit_amount, currency: data.currency });
});

const failed = handle(paymentFailed, async (ctx: Context, { data }) => {
  const order = await orderOf(ctx, data.order_id);
  if (order) await declineOrder(ctx, order);
});

const refunded = handle(paymentRefunded, async (ctx: Context, { data }) => {
  const order = await orderOf(ctx, data.order_id);
  if (order?.placedAt || order?.cancelledAt) refundedOrder(ctx, order, data.obligation_refunded ?? data.total_refunded);
});

const brands = handle(brandCacheInvalidated, (ctx: Context) => {
  forgetBrands(ctx.host);
  return Promise.resolve();
});

/** Source: commerce 5. */
export const consumers: readonly Consumer<Context>[] = [
  { name: 'commerce.payments', on: [paid, failed, refunded] },
  { name: 'commerce.brands', on: [brands] },
];
