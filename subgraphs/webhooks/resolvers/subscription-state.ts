import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { move } from '../../../runtime/request/states.js';
import { closeOpen, holdLanes, releaseLanes } from '../commands/lanes.js';
import { signalOf } from '../commands/signal.js';
import { MANAGERS, WebhookHealth, WebhookSubscription } from '../entities/subscription.js';
import { DisableWebhookSubscriptionInput } from '../inputs/subscription.js';
import type { ClientFacts } from '../rules/filter.js';
import { SUBSCRIPTION_STATES, type SubscriptionTrigger } from '../rules/states.js';
import { checkUnbound } from '../queries/managed.js';
import { checkStored } from '../queries/subscription-input.js';
import { changeSubscription, clientOfSubscription } from './subscription.js';

/** Moves a subscription to its next state. @throws Problem not_found, conflict. */
async function moveSubscription(ctx: Context, id: string, trigger: SubscriptionTrigger): Promise<WebhookSubscription> {
  const subscription = await changeSubscription(ctx, id);
  subscription.status = move(SUBSCRIPTION_STATES, 'webhook subscription', subscription.status, trigger);
  subscription.statusChangedAt = ctx.now();
  ctx.audit(`webhook_subscription.${trigger}d`, id, { status: subscription.status });
  return subscription;
}

/** Source: section 3, Subscription. */
@Resolver(() => WebhookSubscription)
export class SubscriptionStateResolver {
  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, { description: 'Holds deliveries back; events are stored meanwhile.' })
  async pauseWebhookSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookSubscription> {
    const subscription = await moveSubscription(ctx, id, 'pause');
    await holdLanes(ctx.sql, id);
    return subscription;
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, { description: 'Lets the held deliveries go on, each user in order; overdue retries run at once.' })
  async resumeWebhookSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookSubscription> {
    const subscription = await moveSubscription(ctx, id, 'resume');
    await ctx.em.flush(); // the lanes look at the stored status
    await releaseLanes(ctx.sql, id, ctx.now());
    ctx.afterCommit(() => signalOf(ctx.host).notify());
    return subscription;
  }

  @Access(MANAGERS)
  @Mutation(() => WebhookSubscription, { description: 'Ends deliveries; what is open becomes a dead letter.' })
  async disableWebhookSubscription(
    @Arg('input', () => DisableWebhookSubscriptionInput) input: DisableWebhookSubscriptionInput,
    @Ctx() ctx: Context,
  ): Promise<WebhookSubscription> {
    await checkUnbound(ctx);
    const subscription = await moveSubscription(ctx, input.id, 'disable');
    subscription.disabledReason = 'admin';
    subscription.disabledNote = input.reason;
    await closeOpen(ctx.sql, {
      subscriptionIds: [input.id],
      to: { status: 'dead_lettered', reason: 'subscription_disabled' },
      now: ctx.now(),
    });
    return subscription;
  }

  @Access(MANAGERS)
  @Prepare((ctx, { id }: { id: string }) => clientOfSubscription(ctx, id))
  @Mutation(() => WebhookSubscription, {
    description: 'Begins again with new events; URL and scopes must pass. What was missed is not sent.',
  })
  async enableWebhookSubscription(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<WebhookSubscription> {
    const subscription = await moveSubscription(ctx, id, 'enable');
    if (subscription.disabledReason === 'admin') await checkUnbound(ctx);
    checkStored(ctx, { url: subscription.url, eventTypes: subscription.eventTypes }, ctx.facts as ClientFacts | null);
    subscription.disabledReason = null;
    subscription.disabledNote = null;
    await ctx.em.nativeUpdate(
      WebhookHealth,
      { subscriptionId: id },
      {
        failingSince: null,
        failedAttempts: 0,
        circuitState: 'closed',
        circuitSince: null,
        firstsHeldUntil: null,
        goneAt: null,
        recentFailures: [],
      },
    );
    return subscription;
  }
}
