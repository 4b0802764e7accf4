import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { ProductSubscriptionStatus } from '../entities/enums.js';
import { ProductSubscription } from '../entities/subscription.js';

const END = `update commerce.scheduled_order set status = $2, failure_code = $3, next_attempt_at = null where id = $1 and status in ('scheduled', 'processing') returning subscription_id as "subscriptionId"`;

async function end(
  ctx: Context,
  id: string,
  status: 'placed' | 'skipped' | 'failed',
  code: string | null,
): Promise<ProductSubscription | null> {
  await ctx.em.flush();
  const [row] = await ctx.sql<{ subscriptionId: string }>(END, [id, status, code]);
  return row ? findRow(ctx, ProductSubscription, { id: row.subscriptionId }) : null;
}

/** The order of a cycle is placed; one that was past due is active again. */
export async function scheduledOrderPlaced(ctx: Context, id: string): Promise<void> {
  const subscription = await end(ctx, id, 'placed', null);
  if (subscription?.status !== ProductSubscriptionStatus.PAST_DUE) return;
  Object.assign(subscription, { status: ProductSubscriptionStatus.ACTIVE, pastDueSince: null, updatedAt: ctx.now() });
  subscription.version += 1;
}

/** The order of a cycle cannot be delivered: the cycle is left out. */
export async function scheduledOrderLost(ctx: Context, id: string, code: string): Promise<void> {
  await end(ctx, id, 'skipped', code);
}
