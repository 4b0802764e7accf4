import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { WebhookDelivery } from '../entities/delivery.js';
import { requireManaged } from '../queries/managed.js';
import { DELIVERY_STATES } from '../rules/states.js';
import { signalOf } from './signal.js';

const RETRY_NOW = `update webhooks.webhook_delivery set next_attempt_at = $3, pending_trigger = 'retry_now' where event_id = $1 and id = $2`;
const LANE_NOW = `update webhooks.webhook_lane set next_attempt_at = $3 where subscription_id = $1 and user_id = $2`;

/** The head's next attempt happens at once. The caller holds the lane's lock. */
export async function retryNow(
  ctx: Context,
  { id, eventId, subscriptionId, userId }: Pick<WebhookDelivery, 'id' | 'eventId' | 'subscriptionId' | 'userId'>,
): Promise<void> {
  const now = ctx.now().toISOString();
  await ctx.sql(RETRY_NOW, [eventId, id, now]);
  await ctx.sql(LANE_NOW, [subscriptionId, userId, now]);
  ctx.afterCommit(() => signalOf(ctx.host).notify());
}

const LOCK_LANE = `select head_id from webhooks.webhook_lane where subscription_id = $1 and user_id = $2 for update`;

/** A delivery that may be attempted at once, under its lane's lock. @throws Problem not_found, conflict. */
async function deliveryToRetry(ctx: Context, id: string): Promise<WebhookDelivery> {
  const delivery = await requireManaged(ctx, WebhookDelivery, { id });
  const [lane] = await ctx.sql<{ head_id: string }>(LOCK_LANE, [delivery.subscriptionId, delivery.userId]);
  await ctx.em.refresh(delivery); // its state under the lane's lock
  move(DELIVERY_STATES, 'webhook delivery', delivery.status, 'retry_now');
  if (lane?.head_id !== id) fail('conflict', 'a webhook delivery that waits behind another cannot be retried', { reason: 'head_of_line' });
  return delivery;
}

const STATUS = 'select status from webhooks.webhook_subscription where id = $1';

/** @throws Problem conflict. */
async function requireActive(ctx: Context, subscriptionId: string): Promise<void> {
  const [subscription] = await ctx.sql<{ status: string }>(STATUS, [subscriptionId]);
  const status = subscription?.status ?? 'deleted';
  if (status !== 'active') fail('conflict', `The subscription is ${status}`, { reason: `subscription_${status}` });
}

/** Attempts the blocked head of a lane at once; it counts as its next attempt. @throws Problem not_found, conflict. */
export async function retryDelivery(ctx: Context, id: string): Promise<WebhookDelivery> {
  const delivery = await deliveryToRetry(ctx, id);
  await requireActive(ctx, delivery.subscriptionId);
  await retryNow(ctx, delivery);
  ctx.audit('webhook_delivery.retried', id, { attempt_count: delivery.attemptCount });
  await ctx.em.refresh(delivery);
  return delivery;
}

/** Gives a dead letter up. @throws Problem not_found, conflict. */
export async function discardDeadLetter(ctx: Context, deliveryId: string): Promise<WebhookDelivery> {
  const { id, eventId } = await requireManaged(ctx, WebhookDelivery, { id: deliveryId });
  const delivery = await ctx.em.findOneOrFail(WebhookDelivery, { id, eventId }, { ...FOR_UPDATE, refresh: true });
  delivery.status = move(DELIVERY_STATES, 'webhook delivery', delivery.status, 'discard');
  Object.assign(delivery, { cancelReason: 'discarded', resolvedAt: delivery.resolvedAt ?? ctx.now() });
  ctx.audit('webhook_dead_letter.discarded', deliveryId, { event_id: delivery.eventId, reason: delivery.deadLetterReason });
  return delivery;
}
