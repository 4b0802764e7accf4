import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../runtime/request/context.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { WebhookDeliveryConnection, type WebhookDelivery } from '../entities/delivery.js';
import { WebhookNotice, WebhookNoticeConnection } from '../entities/notice.js';
import { WebhookCircuit, WebhookHealth, WebhookSecretInfo, WebhookSubscription } from '../entities/subscription.js';
import { OAuthClient } from '../stubs.js';
import { deadLetters, deliveries } from '../queries/delivery-list.js';
import { circuitOf } from '../queries/subscription-answer.js';

/** Null before the first attempt of a subscription. */
export const healthOf = (ctx: Context, subscriptionId: string): Promise<WebhookHealth | null> =>
  ctx.load('webhooks.health', subscriptionId, async ids => {
    const rows = await ctx.em.find(WebhookHealth, { subscriptionId: { $in: [...ids] } });
    return inOrder(ids, rows, row => row.subscriptionId);
  });

@Resolver(() => WebhookSubscription)
export class SubscriptionFieldsResolver {
  @FieldResolver(() => OAuthClient)
  client(@Root() { clientId }: WebhookSubscription): OAuthClient {
    return { id: clientId };
  }

  @FieldResolver(() => [WebhookSecretInfo])
  async secrets(@Root() { id }: WebhookSubscription, @Ctx() ctx: Context): Promise<WebhookSecretInfo[]> {
    const found = await ctx.load('webhooks.secrets', id, async ids => {
      const rows = await ctx.em.find(
        WebhookSecretInfo,
        { subscriptionId: { $in: [...ids] } },
        { orderBy: { createdAt: 'asc', id: 'asc' } },
      );
      return ids.map(one => rows.filter(row => row.subscriptionId === one));
    });
    return found ?? [];
  }

  @FieldResolver(() => WebhookCircuit)
  async circuit(@Root() { id }: WebhookSubscription, @Ctx() ctx: Context): Promise<WebhookCircuit> {
    return circuitOf(await healthOf(ctx, id));
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'End of the first failed attempt since the last success.' })
  async failingSince(@Root() { id }: WebhookSubscription, @Ctx() ctx: Context): Promise<Date | null> {
    return (await healthOf(ctx, id))?.failingSince ?? null;
  }

  @FieldResolver(() => DateTime, { nullable: true })
  async lastSuccessAt(@Root() { id }: WebhookSubscription, @Ctx() ctx: Context): Promise<Date | null> {
    return (await healthOf(ctx, id))?.lastSuccessAt ?? null;
  }

  @FieldResolver(() => DateTime, { nullable: true })
  async lastFailureAt(@Root() { id }: WebhookSubscription, @Ctx() ctx: Context): Promise<Date | null> {
    return (await healthOf(ctx, id))?.lastFailureAt ?? null;
  }

  @FieldResolver(() => WebhookNoticeConnection, { description: 'What its owner was told, newest first.' })
  notices(
    @Root() { id }: WebhookSubscription,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookNotice>> {
    return page(ctx.em, WebhookNotice, { subscriptionId: id }, args, { time: 'at' });
  }

  @FieldResolver(() => WebhookDeliveryConnection)
  deliveries(
    @Root() { id }: WebhookSubscription,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDelivery>> {
    return deliveries(ctx, null, { ...args, subscriptionId: id });
  }

  @FieldResolver(() => WebhookDeliveryConnection, { description: 'Dead letters that nobody has resolved, oldest first.' })
  deadLetters(
    @Root() { id }: WebhookSubscription,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDelivery>> {
    return deadLetters(ctx, null, { ...args, subscriptionId: id, resolved: false });
  }
}
