import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { move } from '../../../runtime/request/states.js';
import { signalOf } from '../commands/signal.js';
import { WebhookDelivery, WebhookDeliveryConnection } from '../entities/delivery.js';
import { MANAGERS, READERS } from '../entities/subscription.js';
import {
  DiscardWebhookDeadLetterInput,
  RetryWebhookDeliveryInput,
  WebhookDeadLettersArgs,
  WebhookDeliveriesArgs,
} from '../inputs/delivery.js';
import { DELIVERY_STATES } from '../rules/states.js';
import { deadLetters, deliveries } from '../queries/delivery-list.js';
import { listedClients, manages } from '../queries/managed.js';

const LOCK_LANE = `select head_id from webhooks.webhook_lane where subscription_id = $1 and user_id = $2 for update`;
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

/** A delivery to a client that the caller manages; null for none. */
async function visibleDelivery(ctx: Context, id: string): Promise<WebhookDelivery | null> {
  const found = isUuid(id) ? await ctx.em.findOne(WebhookDelivery, { id }) : null;
  return found && (await manages(ctx, found.clientId)) ? found : null;
}

/** The same. @throws Problem not_found. */
export const findDelivery = async (ctx: Context, id: string): Promise<WebhookDelivery> =>
  (await visibleDelivery(ctx, id)) ?? fail('not_found', 'Not found');

async function deliveryToRetry(ctx: Context, id: string): Promise<WebhookDelivery> {
  const seen = await findDelivery(ctx, id);
  const [lane] = await ctx.sql<{ head_id: string }>(LOCK_LANE, [seen.subscriptionId, seen.userId]);
  await ctx.em.refresh(seen); // its state under the lane's lock
  move(DELIVERY_STATES, 'webhook delivery', seen.status, 'retry_now');
  if (lane?.head_id !== id) fail('conflict', 'a webhook delivery that waits behind another cannot be retried', { reason: 'head_of_line' });
  return seen;
}

@Resolver(() => WebhookDelivery)
export class DeliveryResolver {
  @Access(READERS)
  @Query(() => WebhookDeliveryConnection, { description: 'Deliveries of all clients that the caller manages, newest first.' })
  async webhookDeliveries(
    @Args(() => WebhookDeliveriesArgs) args: WebhookDeliveriesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDelivery>> {
    return deliveries(ctx, await listedClients(ctx, args.clientId), args);
  }

  @Access(READERS)
  @Query(() => WebhookDelivery, { nullable: true })
  webhookDelivery(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookDelivery | null> {
    return visibleDelivery(ctx, id);
  }

  @Access(READERS)
  @Query(() => WebhookDeliveryConnection, { description: 'Deliveries that ended in the dead letters, oldest first.' })
  async webhookDeadLetters(
    @Args(() => WebhookDeadLettersArgs) args: WebhookDeadLettersArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDelivery>> {
    return deadLetters(ctx, await listedClients(ctx, args.clientId), args);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookDelivery, { description: 'Attempts the blocked head of a lane at once; it counts as its next attempt.' })
  async retryWebhookDelivery(
    @Arg('input', () => RetryWebhookDeliveryInput) { id }: RetryWebhookDeliveryInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookDelivery> {
    const delivery = await deliveryToRetry(ctx, id);
    const [subscription] = await ctx.sql<{ status: string }>('select status from webhooks.webhook_subscription where id = $1', [
      delivery.subscriptionId,
    ]);
    if (subscription?.status !== 'active')
      fail('conflict', `The subscription is ${subscription?.status ?? 'deleted'}`, {
        reason: `subscription_${subscription?.status ?? 'deleted'}`,
      });
    await retryNow(ctx, delivery);
    ctx.audit('webhook_delivery.retried', id, { attempt_count: delivery.attemptCount });
    await ctx.em.refresh(delivery);
    return delivery;
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookDelivery, { description: 'Gives a dead letter up: it is cancelled and counts as resolved.' })
  async discardWebhookDeadLetter(
    @Arg('input', () => DiscardWebhookDeadLetterInput) { deliveryId }: DiscardWebhookDeadLetterInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookDelivery> {
    const { id, eventId } = await findDelivery(ctx, deliveryId);
    const delivery = await ctx.em.findOneOrFail(WebhookDelivery, { id, eventId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    delivery.status = move(DELIVERY_STATES, 'webhook delivery', delivery.status, 'discard');
    Object.assign(delivery, { cancelReason: 'discarded', resolvedAt: delivery.resolvedAt ?? ctx.now() });
    ctx.audit('webhook_dead_letter.discarded', deliveryId, { event_id: delivery.eventId, reason: delivery.deadLetterReason });
    return delivery;
  }
}
