import { Args, Ctx, FieldResolver, ID, Int, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../runtime/request/context.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { WebhookAttempt, WebhookAttemptConnection, WebhookDelivery } from '../entities/delivery.js';
import { WebhookSubscription } from '../entities/subscription.js';
import { WebhookWait } from '../entities/enums.js';
import { settingsOf } from '../ports/settings.js';
import { OAuthClient, PlatformEvent, User } from '../stubs.js';
import { maxAttempts } from '../rules/schedule.js';
import { waitingFor } from '../rules/states.js';
import { payloadOf, responseBodyOf } from '../queries/payload.js';
import { healthOf } from './subscription-fields.js';

const subscriptionOf = (ctx: Context, id: string): Promise<WebhookSubscription | null> =>
  ctx.load('webhooks.subscription', id, async ids =>
    inOrder(ids, await ctx.em.find(WebhookSubscription, { id: { $in: [...ids] } }), row => row.id),
  );

/** Deliveries by id, deleted subscriptions' too. */
export const deliveryOf = (ctx: Context, id: string): Promise<WebhookDelivery | null> =>
  ctx.load('webhooks.delivery', id, async ids =>
    inOrder(ids, await ctx.em.find(WebhookDelivery, { id: { $in: [...ids] } }), row => row.id),
  );

const HEADS = `select l.head_id, k.key from unnest($1::uuid[], $2::uuid[]) with ordinality as k(subscription_id, user_id, key)
join webhooks.webhook_lane l using (subscription_id, user_id)`;

/** Id of the head of a delivery's lane; null when it has none. */
const headOf = (ctx: Context, { subscriptionId, userId }: WebhookDelivery): Promise<string | null> =>
  ctx.load('webhooks.head', { subscriptionId, userId }, async lanes => {
    const rows = await ctx.sql<{ head_id: string; key: string }>(HEADS, [
      lanes.map(lane => lane.subscriptionId),
      lanes.map(lane => lane.userId),
    ]);
    const heads = new Map(rows.map(row => [Number(row.key), row.head_id]));
    return lanes.map((_, index) => heads.get(index + 1) ?? null);
  });

@Resolver(() => WebhookDelivery)
export class DeliveryFieldsResolver {
  @FieldResolver(() => WebhookSubscription, { nullable: true, description: 'Null when it was deleted.' })
  async subscription(@Root() { subscriptionId }: WebhookDelivery, @Ctx() ctx: Context): Promise<WebhookSubscription | null> {
    const found = await subscriptionOf(ctx, subscriptionId);
    return found?.deletedAt === null ? found : null;
  }

  @FieldResolver(() => OAuthClient)
  client(@Root() { clientId }: WebhookDelivery): OAuthClient {
    return { id: clientId };
  }

  @FieldResolver(() => PlatformEvent, { nullable: true, description: 'Null past the retention of the log.' })
  event(@Root() { eventId }: WebhookDelivery): PlatformEvent {
    return { id: eventId };
  }

  @FieldResolver(() => User)
  user(@Root() { userId }: WebhookDelivery): User {
    return { id: userId };
  }

  @FieldResolver(() => WebhookWait, { nullable: true, description: 'Pending deliveries only.' })
  async waitingFor(@Root() delivery: WebhookDelivery, @Ctx() ctx: Context): Promise<WebhookWait | null> {
    if (delivery.status !== 'pending') return null;
    const [head, subscription, health] = await Promise.all([
      headOf(ctx, delivery),
      subscriptionOf(ctx, delivery.subscriptionId),
      healthOf(ctx, delivery.subscriptionId),
    ]);
    return waitingFor({
      status: delivery.status,
      isHead: head === delivery.id,
      paused: subscription?.status === 'paused',
      circuitOpen: health !== null && health.circuitState !== 'closed',
      rateLimited: health?.limitedUntil != null && health.limitedUntil.getTime() > Date.now(),
    });
  }

  @FieldResolver(() => ID, { nullable: true, description: 'The delivery that blocks it: the head of its lane.' })
  async blockedById(@Root() delivery: WebhookDelivery, @Ctx() ctx: Context): Promise<string | null> {
    if (delivery.finishedAt !== null) return null;
    const head = await headOf(ctx, delivery);
    return head === delivery.id ? null : head;
  }

  @FieldResolver(() => WebhookDelivery, { nullable: true })
  async blockedBy(@Root() delivery: WebhookDelivery, @Ctx() ctx: Context): Promise<WebhookDelivery | null> {
    const head = await this.blockedById(delivery, ctx);
    return head === null ? null : deliveryOf(ctx, head);
  }

  @FieldResolver(() => Int)
  maxAttempts(@Ctx() ctx: Context): number {
    return maxAttempts(settingsOf(ctx.host).retrySeconds);
  }

  @FieldResolver(() => WebhookDelivery, { nullable: true })
  replayOf(@Root() { replayOfId }: WebhookDelivery, @Ctx() ctx: Context): Promise<WebhookDelivery | null> {
    return replayOfId === null ? Promise.resolve(null) : deliveryOf(ctx, replayOfId);
  }

  @FieldResolver(() => [WebhookDelivery], { description: 'Deliveries that were made by replaying this one, oldest first.' })
  async replays(@Root() { id, eventId }: WebhookDelivery, @Ctx() ctx: Context): Promise<WebhookDelivery[]> {
    return ctx.em.find(WebhookDelivery, { eventId, replayOfId: id }, { orderBy: { replayNo: 'asc' } });
  }

  @FieldResolver(() => JSONObject, {
    nullable: true,
    description: "The body as sent, for callers who may read what the type's owner shows. Reading it is audited.",
  })
  payload(@Root() delivery: WebhookDelivery, @Ctx() ctx: Context): Promise<unknown> {
    return payloadOf(ctx, delivery);
  }

  @FieldResolver(() => WebhookAttemptConnection, { description: 'Newest first.' })
  attempts(
    @Root() { id }: WebhookDelivery,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookAttempt>> {
    return page(ctx.em, WebhookAttempt, { deliveryId: id }, args, { time: 'startedAt' });
  }
}

@Resolver(() => WebhookAttempt)
export class AttemptFieldsResolver {
  @FieldResolver(() => WebhookDelivery, { nullable: true })
  delivery(@Root() { deliveryId }: WebhookAttempt, @Ctx() ctx: Context): Promise<WebhookDelivery | null> {
    return deliveryId === null ? Promise.resolve(null) : deliveryOf(ctx, deliveryId);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The first 4 KiB of the answer, masked, under the same rule as the payload.',
  })
  async responseBody(@Root() attempt: WebhookAttempt, @Ctx() ctx: Context): Promise<string | null> {
    return responseBodyOf(ctx, attempt, await this.delivery(attempt, ctx));
  }
}
