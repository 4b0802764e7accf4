import type { Context } from '../../../runtime/request/context.js';
import type { WebhookSubscription } from '../entities/subscription.js';
import { requireSubscription } from '../queries/subscriptions.js';
import { changeConfiguration, configurationOf } from './configuration.js';

/** Notes a change of a subscription under a version of the configuration, so that every process loads it. */
export function touch(ctx: Context, subscription: WebhookSubscription, configurationVersion: string): void {
  subscription.configurationVersion = configurationVersion;
  subscription.updatedAt = ctx.now();
  ctx.afterCommit(() => configurationOf(ctx.host).refresh(ctx.sql));
}

/** Loads a subscription to change it: alone with the configuration until the transaction ends. @throws Problem not_found. */
export async function changeSubscription(ctx: Context, id: string): Promise<WebhookSubscription> {
  const configurationVersion = await changeConfiguration(ctx.sql);
  const subscription = await requireSubscription(ctx, id);
  touch(ctx, subscription, configurationVersion);
  return subscription;
}
