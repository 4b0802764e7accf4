import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { discardDeadLetter, retryDelivery } from '../commands/deliveries.js';
import { replayDelivery, replayEvent } from '../commands/replays.js';
import { WebhookDelivery, WebhookDeliveryConnection, WebhookReplayResult } from '../entities/delivery.js';
import { MANAGERS, READERS } from '../entities/subscription.js';
import {
  DiscardWebhookDeadLetterInput,
  ReplayWebhookDeliveryInput,
  ReplayWebhookEventInput,
  RetryWebhookDeliveryInput,
  WebhookDeadLettersArgs,
  WebhookDeliveriesArgs,
} from '../inputs/delivery.js';
import { listDeadLetters, listDeliveries } from '../queries/deliveries.js';
import { findManaged } from '../queries/managed.js';

/** Source: section 4, deliveries, replay and dead letters. */
@Resolver(() => WebhookDelivery)
export class DeliveryResolver {
  @Access(READERS)
  @Query(() => WebhookDeliveryConnection, { description: 'Deliveries of all clients that the caller manages, newest first.' })
  webhookDeliveries(
    @Args(() => WebhookDeliveriesArgs) args: WebhookDeliveriesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDelivery>> {
    return listDeliveries(ctx, args);
  }

  @Access(READERS)
  @Query(() => WebhookDelivery, { nullable: true })
  webhookDelivery(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookDelivery | null> {
    return findManaged(ctx, WebhookDelivery, { id });
  }

  @Access(READERS)
  @Query(() => WebhookDeliveryConnection, { description: 'Deliveries that ended in the dead letters, oldest first.' })
  webhookDeadLetters(
    @Args(() => WebhookDeadLettersArgs) args: WebhookDeadLettersArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookDelivery>> {
    return listDeadLetters(ctx, args);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookDelivery, { description: 'Attempts the blocked head of a lane at once; it counts as its next attempt.' })
  retryWebhookDelivery(
    @Arg('input', () => RetryWebhookDeliveryInput) { id }: RetryWebhookDeliveryInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookDelivery> {
    return retryDelivery(ctx, id);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookDelivery, { description: 'Gives a dead letter up: it is cancelled and counts as resolved.' })
  discardWebhookDeadLetter(
    @Arg('input', () => DiscardWebhookDeadLetterInput) { deliveryId }: DiscardWebhookDeadLetterInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookDelivery> {
    return discardDeadLetter(ctx, deliveryId);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookReplayResult, { description: 'Delivers an event again to every subscription that has a delivery of it.' })
  replayWebhookEvent(
    @Arg('input', () => ReplayWebhookEventInput) input: ReplayWebhookEventInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookReplayResult> {
    return replayEvent(ctx, input);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookDelivery, { description: 'Makes a new delivery of one that was delivered or ended in the dead letters.' })
  replayWebhookDelivery(
    @Arg('input', () => ReplayWebhookDeliveryInput) { id }: ReplayWebhookDeliveryInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookDelivery> {
    return replayDelivery(ctx, id);
  }
}
