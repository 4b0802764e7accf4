import { orderPlaced } from '../../events/catalogue/commerce.js';
import { paymentDisputeClosed, paymentRefunded } from '../../events/catalogue/payments.js';
import { handle, type Consumer } from '../../events/consumer.js';
import type { Context } from '../../runtime/request/context.js';
import { endPurchases, unlockPurchases } from './commands/override.js';

/** A guest has nothing to be unlocked. */
const placed = handle(orderPlaced, async (ctx: Context, { user_id: userId, data }) => {
  const productIds = data.items.map(item => item.product_id);
  if (userId !== null) await unlockPurchases(ctx, { orderId: data.order_id, userId, productIds });
});

/** Only a full refund takes back what was bought. */
const refunded = handle(paymentRefunded, async (ctx: Context, { data }) => {
  const full = data.status === 'succeeded' && data.total_refunded >= data.payment_amount;
  if (full && data.order_id != null) await endPurchases(ctx, data.order_id, { refund_id: data.refund_id });
});

const disputed = handle(paymentDisputeClosed, async (ctx: Context, { data }) => {
  if (data.outcome === 'lost' && data.order_id != null) await endPurchases(ctx, data.order_id, { dispute_id: data.dispute_id });
});

/** One queue, so that an order comes before its refund. Source: entitlements 5. */
export const consumers: readonly Consumer<Context>[] = [{ name: 'entitlements.purchases', on: [placed, refunded, disputed] }];
