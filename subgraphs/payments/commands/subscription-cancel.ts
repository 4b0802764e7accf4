import type { Context } from '../../../runtime/request/context.js';
import type { BillingSubscription } from '../entities/subscription.js';
import { BillingEffective, type CancelBillingSubscriptionInput, type CancelMyBillingSubscriptionInput } from '../inputs/subscription.js';
import { BillingSubscriptionStatus as Status } from '../entities/enums-billing.js';
import { isOver } from '../rules/subscription-states.js';
import { lockOwn, myMembership } from './own-subscription.js';
import { abandonSubscription, endLater, endSubscription } from './subscription-end.js';

/** Where somebody says nothing. */
const NO_REASON = 'member_request';

interface Cancelling {
  at: BillingEffective;
  reason: string | null;
  comment: string | null;
}

/** Now, or when the period ends. It is locked. @throws Problem conflict for one that has ended. */
export async function cancel(
  ctx: Context,
  subscription: BillingSubscription,
  { at, reason, comment }: Cancelling,
): Promise<BillingSubscription> {
  subscription.cancelComment = comment;
  if (subscription.status === Status.INCOMPLETE) await abandonSubscription(ctx, subscription, 'cancel');
  else if (at === BillingEffective.PERIOD_END) await endLater(ctx, subscription, reason ?? NO_REASON);
  else await endSubscription(ctx, subscription, { reason: reason ?? NO_REASON, atPeriodEnd: false, involuntary: false });
  return subscription;
}

/** @throws Problem not_found, conflict. */
export async function cancelSubscription(ctx: Context, input: CancelBillingSubscriptionInput): Promise<BillingSubscription> {
  const subscription = await lockOwn(ctx, input.id);
  if (input.ifLive && isOver(subscription.status)) return subscription;
  return cancel(ctx, subscription, { at: input.at, reason: input.reason ?? null, comment: input.comment ?? null });
}

/** @throws Problem not_found without a live membership. */
export const cancelMine = async (ctx: Context, { at, reason, comment }: CancelMyBillingSubscriptionInput): Promise<BillingSubscription> =>
  cancel(ctx, await lockOwn(ctx, (await myMembership(ctx)).id), { at, reason: reason ?? null, comment: comment ?? null });
