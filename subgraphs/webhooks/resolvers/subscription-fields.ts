import { Arg, Args, Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { DateTime } from '../../../runtime/schema/scalars.js';
import { closingOf } from '../commands/closings.js';
import { WebhookDeliveryConnection, type WebhookDelivery } from '../entities/delivery.js';
import { WebhookStatsWindow } from '../entities/enums.js';
import { WebhookNotice, WebhookNoticeConnection } from '../entities/notice.js';
import { WebhookStats } from '../entities/stats.js';
import { READERS, WebhookCircuit, WebhookSecretInfo, WebhookSubscription } from '../entities/subscription.js';
import { deadLettersOf, deliveriesOf } from '../queries/deliveries.js';
import { statsOf } from '../queries/stats.js';
import { circuitOf, healthOf, secretsOf } from '../queries/subscriptions.js';
import { OAuthClient } from '../stubs.js';

@Resolver(() => WebhookSubscription)
export class SubscriptionFieldsResolver {
  @FieldResolver(() => OAuthClient)
  client(@Root() { clientId }: WebhookSubscription): OAuthClient {
    return { id: clientId };
  }

  @FieldResolver(() => [WebhookSecretInfo])
  secrets(@Root() { id }: WebhookSubscription, @Ctx() ctx: Context): Promise<WebhookSecretInfo[]> {
    return secretsOf(ctx, id);
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

  @FieldResolver(() => Int, { description: 'Open deliveries that are still to be closed after it ended or its filter changed.' })
  closing(@Root() { id }: WebhookSubscription, @Ctx() ctx: Context): Promise<number> {
    return closingOf(ctx.sql, id);
  }

  @Access(READERS)
  @FieldResolver(() => WebhookStats)
  stats(
    @Root() { id }: WebhookSubscription,
    @Arg('window', () => WebhookStatsWindow, { defaultValue: 'day' }) window: WebhookStatsWindow,
    @Ctx() ctx: Context,
  ): Promise<WebhookStats> {
    return statsOf(ctx, id, window);
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
    return deliveriesOf(ctx, id, args);
  }

  @FieldResolver(() => WebhookDeliveryConnection, { description: 'Dead letters that nobody has resolved, oldest first.' })
  deadLetters(
    @Root() { id }: WebhookSubscription,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDelivery>> {
    return deadLettersOf(ctx, id, args);
  }
}
