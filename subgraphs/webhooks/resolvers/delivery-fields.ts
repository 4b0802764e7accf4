import { Args, Ctx, FieldResolver, ID, Int, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../runtime/request/context.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { readPayload } from '../commands/audited-reads.js';
import { WebhookAttempt, WebhookAttemptConnection } from '../entities/attempt.js';
import { WebhookDelivery } from '../entities/delivery.js';
import { WebhookWait } from '../entities/enums.js';
import { WebhookSubscription } from '../entities/subscription.js';
import { settingsOf } from '../ports/settings.js';
import { blockerOf, deliveryOf, waitOf } from '../queries/deliveries.js';
import { subscriptionOf } from '../queries/subscriptions.js';
import { maxAttempts } from '../rules/schedule.js';
import { OAuthClient, PlatformEvent, User } from '../stubs.js';

@Resolver(() => WebhookDelivery)
export class DeliveryFieldsResolver {
  @FieldResolver(() => WebhookSubscription, { nullable: true, description: 'Null when it was deleted.' })
  subscription(@Root() { subscriptionId }: WebhookDelivery, @Ctx() ctx: Context): Promise<WebhookSubscription | null> {
    return subscriptionOf(ctx, subscriptionId);
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
  waitingFor(@Root() delivery: WebhookDelivery, @Ctx() ctx: Context): Promise<WebhookWait | null> {
    return waitOf(ctx, delivery);
  }

  @FieldResolver(() => ID, { nullable: true, description: 'The delivery that blocks it: the head of its lane.' })
  blockedById(@Root() delivery: WebhookDelivery, @Ctx() ctx: Context): Promise<string | null> {
    return blockerOf(ctx, delivery);
  }

  @FieldResolver(() => WebhookDelivery, { nullable: true })
  async blockedBy(@Root() delivery: WebhookDelivery, @Ctx() ctx: Context): Promise<WebhookDelivery | null> {
    const blocker = await blockerOf(ctx, delivery);
    return blocker === null ? null : deliveryOf(ctx, blocker);
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
  replays(@Root() { id, eventId }: WebhookDelivery, @Ctx() ctx: Context): Promise<WebhookDelivery[]> {
    return ctx.em.find(WebhookDelivery, { eventId, replayOfId: id }, { orderBy: { replayNo: 'asc' } });
  }

  @FieldResolver(() => JSONObject, {
    nullable: true,
    description: "The body as sent, for callers who may read what the type's owner shows. Reading it is audited.",
  })
  payload(@Root() delivery: WebhookDelivery, @Ctx() ctx: Context): Promise<unknown> {
    return readPayload(ctx, delivery);
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
