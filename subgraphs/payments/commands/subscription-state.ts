import { lockOnce, lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { BillingSubscriptionStatus as Status, InvoiceStatus } from '../entities/enums-billing.js';
import { Invoice } from '../entities/invoice.js';
import { BillingPrice } from '../entities/price.js';
import { BillingSubscription } from '../entities/subscription.js';
import { noticeAt } from '../rules/notices.js';
import type { Anchor, Period, Recurrence } from '../rules/periods.js';
import { SUBSCRIPTION_STATES, isBilled, type SubscriptionTrigger } from '../rules/subscription-states.js';
import { emitCreated, emitResumed } from './billing-events.js';

/** Moves a subscription on. @throws Problem conflict naming its state. */
export function moveOn(subscription: BillingSubscription, trigger: SubscriptionTrigger): void {
  subscription.status = move(SUBSCRIPTION_STATES, 'subscription', subscription.status, trigger);
  subscription.version += 1;
}

/** A subscription, locked first of all that belongs to it: subscription, invoice, payment, customer. @throws Problem not_found. */
export const lockSubscription = (ctx: Context, where: { id: string; userId?: string }): Promise<BillingSubscription> =>
  lockRow(ctx, BillingSubscription, where);

export const priceOf = (ctx: Context, { priceId }: Pick<BillingSubscription, 'priceId'>): Promise<BillingPrice> =>
  requireRow(ctx, BillingPrice, { id: priceId });

export const recurrenceOf = ({ interval, intervalCount }: BillingPrice): Recurrence => ({
  interval: interval!,
  intervalCount: intervalCount!,
});

export const anchorOf = ({ anchorAt, anchorDay, currentPeriodStart }: BillingSubscription): Anchor => ({
  at: anchorAt ?? currentPeriodStart,
  day: anchorDay,
});

export const periodOf = ({ currentPeriodStart: start, currentPeriodEnd: end }: BillingSubscription): Period => ({ start, end });

/** Puts down when something happens to it next: the end of its period, and the notice before. Nothing, unless its periods run. */
export function plan(subscription: BillingSubscription, price: BillingPrice): void {
  const { currentPeriodStart: begun, currentPeriodEnd: end, status, cancelAtPeriodEnd, pauseAtPeriodEnd } = subscription;
  const runs = isBilled(status);
  const isTold = runs && !cancelAtPeriodEnd && !pauseAtPeriodEnd;
  subscription.nextRunAt = runs ? end : null;
  subscription.nextNoticeAt = isTold ? noticeAt(end, status === Status.TRIALING, recurrenceOf(price), begun) : null;
}

/** Whether another invoice of it is overdue. */
export async function owesOther(ctx: Context, subscriptionId: string, invoiceId: string): Promise<boolean> {
  await ctx.em.flush();
  return (await ctx.em.count(Invoice, { subscriptionId, status: InvoiceStatus.PAST_DUE, id: { $ne: invoiceId } })) > 0;
}

/** A paused subscription that is billed again: its invoice is the first after the pause. */
const isResuming = ({ status, pausedAt, latestInvoiceId }: BillingSubscription, { id, createdAt }: Invoice): boolean =>
  status === Status.PAUSED && latestInvoiceId === id && pausedAt !== null && createdAt >= pausedAt;

/** It is no longer paused: told once, when it is paid for. */
export function endPause(ctx: Context, subscription: BillingSubscription): void {
  if (subscription.pausedAt === null) return;
  Object.assign(subscription, { pausedAt: null, resumeAt: null, bankedSeconds: 0 });
  emitResumed(ctx, subscription);
}

/** What a payment leaves as it is: it runs, was told of, and is planned. */
const isRunning = ({ status, createdEmittedAt, nextRunAt, pausedAt, incompleteUntil }: BillingSubscription): boolean =>
  status === Status.ACTIVE && createdEmittedAt !== null && nextRunAt !== null && pausedAt === null && incompleteUntil === null;

/** What the payment of a period's invoice does to its subscription. One that ended stays so. */
export async function subscriptionSettled(ctx: Context, subscription: BillingSubscription, invoice: Invoice): Promise<void> {
  if (isRunning(subscription)) return;
  const { status } = subscription;
  const isResumed = isResuming(subscription, invoice);
  const runs = [Status.INCOMPLETE, Status.TRIALING, Status.ACTIVE, Status.PAST_DUE].includes(status) || isResumed;
  if (!runs || (status === Status.TRIALING && invoice.periodStart === null)) return;
  if (status === Status.PAST_DUE && (await owesOther(ctx, subscription.id, invoice.id))) return;
  moveOn(subscription, isResumed ? 'resume' : 'settle');
  subscription.incompleteUntil = null;
  const price = await priceOf(ctx, subscription);
  if (status === Status.INCOMPLETE) ctx.audit('subscription.activated', subscription.id, { invoice_id: invoice.id });
  plan(subscription, price);
  emitCreated(ctx, subscription, price);
  endPause(ctx, subscription);
}

/** What a failed charge does to it. */
export async function subscriptionFellDue(ctx: Context, invoice: Invoice, subscriptionId: string): Promise<void> {
  const subscription = await lockOnce(ctx, BillingSubscription, subscriptionId);
  const isResumed = isResuming(subscription, invoice);
  if (!isBilled(subscription.status) && !isResumed) return;
  if (subscription.status === Status.PAST_DUE) return;
  moveOn(subscription, isResumed ? 'resume_unpaid' : 'fall_due');
  plan(subscription, await priceOf(ctx, subscription));
  ctx.audit('subscription.past_due', subscription.id, { invoice_id: invoice.id });
}

/** The last overdue invoice was taken away by staff: it is active again. Source: payments 3.3. */
export async function forgive(ctx: Context, invoice: Invoice): Promise<void> {
  if (invoice.subscriptionId === null) return;
  const subscription = await lockRow(ctx, BillingSubscription, { id: invoice.subscriptionId });
  if (subscription.status !== Status.PAST_DUE || (await owesOther(ctx, subscription.id, invoice.id))) return;
  moveOn(subscription, 'be_forgiven');
  Object.assign(subscription, { pausedAt: null, resumeAt: null });
  plan(subscription, await priceOf(ctx, subscription));
  emitResumed(ctx, subscription);
  ctx.audit('subscription.forgiven', subscription.id, { invoice_id: invoice.id });
}
