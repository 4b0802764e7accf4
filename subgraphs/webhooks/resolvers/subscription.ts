import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { expireSecret, rotateSecret } from '../commands/secrets.js';
import { disableSubscription, enableSubscription, pauseSubscription, resumeSubscription } from '../commands/subscription-states.js';
import { createSubscription, deleteSubscription, newClient, storedClient, updateSubscription } from '../commands/subscriptions.js';
import {
  MANAGERS,
  READERS,
  WebhookSubscription,
  WebhookSubscriptionConnection,
  WebhookSubscriptionWithSecret,
} from '../entities/subscription.js';
import {
  CreateWebhookSubscriptionInput,
  DeleteWebhookSubscriptionInput,
  DisableWebhookSubscriptionInput,
  ExpireWebhookSecretInput,
  RotateWebhookSecretInput,
  UpdateWebhookSubscriptionInput,
  WebhookSubscriptionsArgs,
} from '../inputs/subscription.js';
import { findSubscription, listSubscriptions } from '../queries/subscriptions.js';

/** Source: sections 3 and 4, subscriptions. */
@Resolver(() => WebhookSubscription)
export class SubscriptionResolver {
  @Access(READERS)
  @Query(() => WebhookSubscriptionConnection, { description: 'Subscriptions of all clients that the caller manages, newest first.' })
  webhookSubscriptions(
    @Args(() => WebhookSubscriptionsArgs) args: WebhookSubscriptionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<WebhookSubscription>> {
    return listSubscriptions(ctx, args);
  }

  @Access(READERS)
  @Query(() => WebhookSubscription, { nullable: true })
  webhookSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookSubscription | null> {
    return findSubscription(ctx, id);
  }

  @Access(MANAGERS)
  @Prepare(newClient)
  @Mutation(() => WebhookSubscriptionWithSecret, {
    description: 'Subscribes an endpoint of a client to event types. The signing secret is in this answer only.',
  })
  createWebhookSubscription(
    @Arg('input', () => CreateWebhookSubscriptionInput) input: CreateWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscriptionWithSecret> {
    return createSubscription(ctx, input);
  }

  @Access(MANAGERS)
  @Prepare(storedClient)
  @Mutation(() => WebhookSubscription, {
    description: 'Changes a subscription; what is left out stays. Events of a type that leaves the filter are not sent any more.',
  })
  updateWebhookSubscription(
    @Arg('input', () => UpdateWebhookSubscriptionInput) input: UpdateWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscription> {
    return updateSubscription(ctx, input);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, {
    description: 'Deletes a subscription and its secrets; open deliveries are cancelled, history is kept 30 days.',
  })
  deleteWebhookSubscription(
    @Arg('input', () => DeleteWebhookSubscriptionInput) { id }: DeleteWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscription> {
    return deleteSubscription(ctx, id);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, { description: 'Holds deliveries back; events are stored meanwhile.' })
  pauseWebhookSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookSubscription> {
    return pauseSubscription(ctx, id);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, { description: 'Lets the held deliveries go on, each user in order; overdue retries run at once.' })
  resumeWebhookSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookSubscription> {
    return resumeSubscription(ctx, id);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, { description: 'Ends deliveries; what is open becomes a dead letter.' })
  disableWebhookSubscription(
    @Arg('input', () => DisableWebhookSubscriptionInput) input: DisableWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscription> {
    return disableSubscription(ctx, input);
  }

  @Access(MANAGERS)
  @Prepare(storedClient)
  @Mutation(() => WebhookSubscription, {
    description: 'Begins again with new events; URL and scopes must pass. What was missed is not sent.',
  })
  enableWebhookSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookSubscription> {
    return enableSubscription(ctx, id);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscriptionWithSecret, {
    description: 'Makes a new signing secret, shown in this answer only. During the overlap a second header bears the other signature.',
  })
  rotateWebhookSecret(
    @Arg('input', () => RotateWebhookSecretInput) input: RotateWebhookSecretInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscriptionWithSecret> {
    return rotateSecret(ctx, input);
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, { description: 'Ends a previous secret, or lets a next one take over now.' })
  expireWebhookSecret(
    @Arg('input', () => ExpireWebhookSecretInput) input: ExpireWebhookSecretInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscription> {
    return expireSecret(ctx, input);
  }
}
