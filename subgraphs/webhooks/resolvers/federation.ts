import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { WebhookDeliveryConnection, type WebhookDelivery } from '../entities/delivery.js';
import { WebhookClientHealth } from '../entities/stats.js';
import { READERS, WebhookSubscriptionConnection, type WebhookSubscription } from '../entities/subscription.js';
import { EventDeliveriesArgs } from '../inputs/delivery.js';
import { listDeliveries } from '../queries/deliveries.js';
import { clientHealthOf } from '../queries/stats.js';
import { subscriptionsOf } from '../queries/subscriptions.js';
import { OAuthClient, PlatformEvent } from '../stubs.js';

/** Source: section 6. */
@Resolver(() => PlatformEvent)
export class PlatformEventFieldsResolver {
  @Access(READERS)
  @FieldResolver(() => WebhookDeliveryConnection, { description: 'Its deliveries to clients that the caller manages, newest first.' })
  webhookDeliveries(
    @Root() { id }: PlatformEvent,
    @Args(() => EventDeliveriesArgs) args: EventDeliveriesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDelivery>> {
    return listDeliveries(ctx, { ...args, eventId: id });
  }
}

@Resolver(() => OAuthClient)
export class ClientFieldsResolver {
  @Access(READERS)
  @FieldResolver(() => WebhookSubscriptionConnection, { description: 'Newest first.' })
  webhookSubscriptions(
    @Root() { id }: OAuthClient,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookSubscription>> {
    return subscriptionsOf(ctx, id, args);
  }

  @Access(READERS)
  @FieldResolver(() => WebhookClientHealth)
  webhookHealth(@Root() { id }: OAuthClient, @Ctx() ctx: Context): Promise<WebhookClientHealth> {
    return clientHealthOf(ctx, id);
  }
}
