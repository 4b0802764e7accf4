import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { BillingSubscriptionSource, BillingSubscriptionStatus as Status, InvoiceKind, InvoiceStatus } from '../entities/enums-billing.js';
import { Invoice } from '../entities/invoice.js';
import type { BillingSubscription } from '../entities/subscription.js';
import { bankedAt, resumedAt } from '../rules/banked-time.js';
import { emitPaused } from './billing-events.js';
import { lockCollected } from './invoice.js';
import { voidOpen } from './subscription-end.js';
import { endPause, moveOn, plan, priceOf } from './subscription-state.js';

export interface Pausing {
  resumeAt: Date | null;
  /** Staff may take back what is not paid. */
  voidOpen: boolean;
}

/** Whether the time of the running period is the customer's: paid, tried, given, or free. */
async function isPaidFor(ctx: Context, { id, currentPeriodStart: periodStart, source, status }: BillingSubscription): Promise<boolean> {
  if (source !== BillingSubscriptionSource.PURCHASE || status === Status.TRIALING) return true;
  const unpaid = { subscriptionId: id, kind: InvoiceKind.PERIOD, periodStart, status: { $ne: InvoiceStatus.PAID } };
  return (await ctx.em.count(Invoice, unpaid)) === 0;
}

/** Pauses now: what is not used of the paid period is kept in seconds. It is locked. @throws Problem conflict. */
export async function pauseNow(ctx: Context, subscription: BillingSubscription, { resumeAt, voidOpen: isVoiding }: Pausing): Promise<void> {
  const isPaid = await isPaidFor(ctx, subscription);
  const trigger = subscription.status === Status.PAST_DUE && isVoiding ? 'pause_void' : 'pause';
  moveOn(subscription, trigger);
  if (isVoiding) await voidOpen(ctx, subscription, 'paused');
  else if ((await lockCollected(ctx, subscription.id)).length > 0)
    fail('conflict', 'an invoice of the subscription is not paid yet', { reason: 'invoice_open' });
  const bankedSeconds = isPaid ? bankedAt(ctx.now(), subscription.currentPeriodEnd) : 0;
  Object.assign(subscription, { pausedAt: ctx.now(), resumeAt, bankedSeconds, pauseAtPeriodEnd: false });
  Object.assign(subscription, { nextRunAt: null, nextNoticeAt: null });
  emitPaused(ctx, subscription);
  ctx.audit('subscription.paused', subscription.id, { banked_seconds: bankedSeconds, resume_at: resumeAt });
}

/** Dunning is exhausted, and the brand pauses: nothing is banked. It is locked. */
export function pauseUnpaid(ctx: Context, subscription: BillingSubscription): void {
  moveOn(subscription, 'give_up_and_pause');
  Object.assign(subscription, { pausedAt: ctx.now(), resumeAt: null, bankedSeconds: 0, nextRunAt: null, nextNoticeAt: null });
  Object.assign(subscription, { cancelAtPeriodEnd: false, pauseAtPeriodEnd: false });
  emitPaused(ctx, subscription);
  ctx.audit('subscription.paused', subscription.id, { reason: 'payment_failed' });
}

/** Pauses when the period ends. @throws Problem conflict unless it is active or in trial. */
export async function pauseLater(ctx: Context, subscription: BillingSubscription, resumeAt: Date | null): Promise<void> {
  if (subscription.status !== Status.ACTIVE && subscription.status !== Status.TRIALING)
    fail('conflict', `a subscription that is ${subscription.status.replaceAll('_', ' ')} cannot pause`);
  Object.assign(subscription, { pauseAtPeriodEnd: true, resumeAt, version: subscription.version + 1 });
  plan(subscription, await priceOf(ctx, subscription));
  ctx.audit('subscription.pause_planned', subscription.id, { at: subscription.currentPeriodEnd, resume_at: resumeAt });
}

/** @throws Problem conflict unless it is paused, and nothing of it is overdue. `isWaiving`: what is overdue is taken back. */
export async function requireResumable(ctx: Context, subscription: BillingSubscription, isWaiving: boolean): Promise<void> {
  if (subscription.status !== Status.PAUSED)
    fail('conflict', `a subscription that is ${subscription.status.replaceAll('_', ' ')} cannot resume`);
  if (isWaiving) return voidOpen(ctx, subscription, 'waived');
  if ((await lockCollected(ctx, subscription.id)).length > 0)
    fail('conflict', 'an invoice of the subscription is overdue', { reason: 'invoice_overdue' });
}

/** Goes on with the paid time that the pause kept; from its end the periods count anew. It is locked, and has banked time. */
export async function resumeBanked(ctx: Context, subscription: BillingSubscription): Promise<void> {
  const { period, anchor } = resumedAt(ctx.now(), subscription.bankedSeconds);
  moveOn(subscription, 'resume');
  Object.assign(subscription, {
    currentPeriodStart: period.start,
    currentPeriodEnd: period.end,
    anchorAt: anchor.at,
    anchorDay: anchor.day,
  });
  plan(subscription, await priceOf(ctx, subscription));
  endPause(ctx, subscription);
  ctx.audit('subscription.resumed', subscription.id, { current_period_end: period.end });
}
