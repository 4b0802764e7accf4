import type { Context } from '../../../runtime/request/context.js';
import type { Configuration, SubscriptionConfiguration } from '../commands/configuration.js';
import type { WebhookJob } from '../entities/job.js';

/** What a step of a job did. */
export type StepResult =
  { outcome: 'failed' } | { outcome: 'more' | 'completed'; position: string | null; matched: number; created: number; skipped: number };

/** The next step of a job: asks others first, outside a transaction, and answers what is then to be done in one. */
export type JobStep = (ctx: Context, job: WebhookJob) => Promise<(ctx: Context) => Promise<StepResult>>;

/** The subscription of a job while it may get deliveries; null when it is deleted or disabled. */
export function openSubscription(configuration: Configuration, { subscriptionId }: WebhookJob): SubscriptionConfiguration | null {
  const subscription = configuration.get(subscriptionId);
  return subscription && subscription.status !== 'disabled' ? subscription : null;
}
