import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { BillingSubscriptionStatus as Status, SubscriptionChangeStatus } from '../entities/enums-billing.js';
import { SubscriptionChange, type BillingSubscription } from '../entities/subscription.js';
import type { SubscriptionTrigger } from '../rules/subscription-states.js';
import { emitCancelled, type Ending } from './billing-events.js';
import { lockCollected, noteDelinquency, voidInvoice } from './invoice.js';
import { endPayment } from './invoice-payment.js';
import { release } from './promo.js';
import { moveOn, plan, priceOf } from './subscription-state.js';

const UNFINISHED = [SubscriptionChangeStatus.PENDING, SubscriptionChangeStatus.AWAITING_PAYMENT];

/** What was asked for and is not paid is taken back. */
export async function voidOpen(ctx: Context, subscription: BillingSubscription, reason: string): Promise<void> {
  for (const invoice of await lockCollected(ctx, subscription.id)) {
    await endPayment(ctx, invoice.id);
    await voidInvoice(ctx, invoice, reason);
  }
  await noteDelinquency(ctx, subscription.customerId);
}

/** Ends a subscription now, once: open invoices are void, and what is planned is dropped. It is locked. @throws Problem conflict. */
export async function endSubscription(
  ctx: Context,
  subscription: BillingSubscription,
  ending: Ending,
  trigger: SubscriptionTrigger = 'cancel',
): Promise<void> {
  const wasComplete = subscription.status !== Status.INCOMPLETE;
  moveOn(subscription, trigger);
  const endedAt = ending.atPeriodEnd ? subscription.currentPeriodEnd : ctx.now();
  Object.assign(subscription, { endedAt, cancelledAt: subscription.cancelledAt ?? ctx.now(), cancelReason: ending.reason });
  Object.assign(subscription, { cancelAtPeriodEnd: false, incompleteUntil: null, resumeAt: null, nextRunAt: null, nextNoticeAt: null });
  await ctx.em.flush();
  await ctx.em.nativeUpdate(
    SubscriptionChange,
    { subscriptionId: subscription.id, status: { $in: UNFINISHED } },
    { status: SubscriptionChangeStatus.DROPPED },
  );
  await voidOpen(ctx, subscription, 'subscription ended');
  ctx.audit('subscription.ended', subscription.id, { reason: ending.reason, at_period_end: ending.atPeriodEnd });
  if (wasComplete) emitCancelled(ctx, subscription, ending);
}

/** An unpaid purchase came to nothing. Anything else stays. */
export async function abandonSubscription(ctx: Context, subscription: BillingSubscription, trigger: 'expire' | 'cancel'): Promise<void> {
  if (subscription.status !== Status.INCOMPLETE) return;
  if (subscription.promoId) await release(ctx, { subscriptionId: subscription.id });
  await endSubscription(ctx, subscription, { reason: 'not_paid', atPeriodEnd: false, involuntary: true }, trigger);
}

/** It ends with the period; undone by a change until then. @throws Problem conflict. */
export async function endLater(ctx: Context, subscription: BillingSubscription, reason: string | null): Promise<void> {
  moveOn(subscription, 'end_later');
  Object.assign(subscription, { cancelAtPeriodEnd: true, cancelledAt: ctx.now(), cancelReason: reason });
  plan(subscription, await priceOf(ctx, subscription));
  ctx.audit('subscription.end_planned', subscription.id, { reason, at: subscription.currentPeriodEnd });
}

/** It does not end with the period after all. */
export async function endNotLater(ctx: Context, subscription: BillingSubscription): Promise<void> {
  if (!subscription.cancelAtPeriodEnd) return;
  if (subscription.status === Status.CANCELLED) fail('conflict', 'a subscription that is cancelled cannot go on');
  Object.assign(subscription, { cancelAtPeriodEnd: false, cancelledAt: null, cancelReason: null });
  subscription.version += 1;
  plan(subscription, await priceOf(ctx, subscription));
  ctx.audit('subscription.end_unplanned', subscription.id);
}
