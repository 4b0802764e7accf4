import { vialDiscarded } from '../../events/catalogue/clinical.js';
import { medicationPrescribed } from '../../events/catalogue/patient-graph.js';
import { brandCacheInvalidated } from '../../events/catalogue/platform.js';
import { paymentFailed, paymentPaid, paymentRefunded } from '../../events/catalogue/payments.js';
import { handle, type Consumer } from '../../events/consumer.js';
import { findRow } from '../../runtime/data/rows.js';
import type { Context } from '../../runtime/request/context.js';
import { declineOrder, expireOrder, lockOrder, refundedOrder, settleOrder } from './commands/order-outcome.js';
import { renewalDeclined } from './commands/scheduled-outcome.js';
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
  if (!order) return;
  if (order.scheduledOrderId === null) return declineOrder(ctx, order);
  const code = data.decline_code ?? data.category;
  if (await renewalDeclined(ctx, order.scheduledOrderId, data.attempt, code)) await expireOrder(ctx, order);
});

const WAITING = `
update commerce.scheduled_order c set next_attempt_at = $2 from commerce.product_subscription s
where s.id = c.subscription_id and s.user_id = $1 and c.status = 'scheduled' and c.failure_code = 'requirement_not_met'`;

/** A renewal that waits for a clearance is looked at again; nothing of the prescription is kept. */
const prescribed = handle(medicationPrescribed, async (ctx: Context, { user_id: userId }) => {
  if (userId !== null) await ctx.sql(WAITING, [userId, ctx.now().toISOString()]);
});

const SUGGEST = `
update commerce.product_subscription set refill_suggested = true, updated_at = $2, version = version + 1
where user_id = $1 and status <> 'cancelled' and not refill_suggested`;

const GONE: readonly string[] = ['used_up', 'lost', 'damaged'];

/** Something was used up, or lost: a refill is suggested, and nothing is ordered. */
const discarded = handle(vialDiscarded, async (ctx: Context, { user_id: userId, data }) => {
  if (userId !== null && GONE.includes(data.reason)) await ctx.sql(SUGGEST, [userId, ctx.now().toISOString()]);
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
  { name: 'commerce.subscriptions', on: [prescribed, discarded] },
];
