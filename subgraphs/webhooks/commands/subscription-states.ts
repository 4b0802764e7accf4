import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import type { WebhookDisabledReason } from '../entities/enums.js';
import { WebhookHealth, type WebhookSubscription } from '../entities/subscription.js';
import type { DisableWebhookSubscriptionInput } from '../inputs/subscription.js';
import { checkUnbound } from '../queries/managed.js';
import { SUBSCRIPTION_STATES, type SubscriptionTrigger } from '../rules/states.js';
import { endOpen, spareNew } from './closings.js';
import { changeLanes } from './lane-changes.js';
import { notify } from './notices.js';
import { changeSubscription } from './subscription-changes.js';
import { checkStored } from './subscription-checks.js';
import { storedClient } from './subscriptions.js';

/** Moves a subscription to its next state. @throws Problem not_found, conflict. */
async function moveSubscription(ctx: Context, id: string, trigger: SubscriptionTrigger): Promise<WebhookSubscription> {
  const subscription = await changeSubscription(ctx, id);
  subscription.status = move(SUBSCRIPTION_STATES, 'webhook subscription', subscription.status, trigger);
  subscription.statusChangedAt = ctx.now();
  ctx.audit(`webhook_subscription.${trigger}d`, id, { status: subscription.status });
  return subscription;
}

/** Holds deliveries back. @throws Problem not_found, conflict. */
export async function pauseSubscription(ctx: Context, id: string): Promise<WebhookSubscription> {
  const subscription = await moveSubscription(ctx, id, 'pause');
  await changeLanes(ctx, id);
  return subscription;
}

/** Lets the held deliveries go on, each user in order. @throws Problem not_found, conflict. */
export async function resumeSubscription(ctx: Context, id: string): Promise<WebhookSubscription> {
  const subscription = await moveSubscription(ctx, id, 'resume');
  await changeLanes(ctx, id);
  return subscription;
}

/** What is open becomes a dead letter. Answers how many have, and how many will. */
const closeDisabled = (ctx: Context, id: string): Promise<{ closed: number; rest: number }> =>
  endOpen(ctx, { subscriptionId: id, to: { status: 'dead_lettered', reason: 'subscription_disabled' } });

/** Ends deliveries on purpose. @throws Problem forbidden, not_found, conflict. */
export async function disableSubscription(ctx: Context, { id, reason }: DisableWebhookSubscriptionInput): Promise<WebhookSubscription> {
  await checkUnbound(ctx);
  const subscription = await moveSubscription(ctx, id, 'disable');
  subscription.disabledReason = 'admin';
  subscription.disabledNote = reason;
  await closeDisabled(ctx, id);
  return subscription;
}

const HEALTHY = {
  failingSince: null,
  failedAttempts: 0,
  circuitState: 'closed',
  circuitSince: null,
  firstsHeldUntil: null,
  goneAt: null,
  recentFailures: [],
} as const;

/** Begins again with new events. @throws Problem not_found, conflict; forbidden where staff disabled it. */
export async function enableSubscription(ctx: Context, id: string): Promise<WebhookSubscription> {
  const subscription = await moveSubscription(ctx, id, 'enable');
  if (subscription.disabledReason === 'admin') await checkUnbound(ctx);
  checkStored(ctx, { url: subscription.url, eventTypes: subscription.eventTypes }, storedClient.of(ctx));
  await spareNew(ctx.sql, id);
  subscription.disabledReason = null;
  subscription.disabledNote = null;
  await ctx.em.nativeUpdate(WebhookHealth, { subscriptionId: id }, HEALTHY);
  return subscription;
}

const DISABLE = `
update webhooks.webhook_subscription set status = 'disabled', disabled_reason = $2, status_changed_at = $3, updated_at = $3, version = version + 1, configuration_version = $4
where id = $1`;

/** Sets a subscription to disabled, for a reason that nobody chose. The caller has the configuration alone, at its new version. */
export const setDisabled = (ctx: Context, id: string, reason: WebhookDisabledReason, configurationVersion: string): Promise<unknown> =>
  ctx.sql(DISABLE, [id, reason, ctx.now().toISOString(), configurationVersion]);

/** Ends deliveries to an endpoint that has answered none of them with a success for five days, or that is gone. What is open becomes a dead letter. */
export async function disableFailing(ctx: Context, id: string, reason: 'failing' | 'gone', configurationVersion: string): Promise<void> {
  await setDisabled(ctx, id, reason, configurationVersion);
  const { closed, rest } = await closeDisabled(ctx, id);
  ctx.audit('webhook_subscription.disabled', id, { status: 'disabled', reason, dead_lettered: closed + rest });
  await notify(ctx, id, 'disabled', reason);
}
