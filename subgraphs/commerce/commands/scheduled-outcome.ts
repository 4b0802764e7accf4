import { findRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { move } from '../../../runtime/request/states.js';
import { ProductSubscriptionStatus, ScheduledOrderStatus } from '../entities/enums.js';
import { ScheduledCycle } from '../entities/scheduled-cycle.js';
import { ProductSubscription } from '../entities/subscription.js';
import { retryAt } from '../rules/cycles.js';
import { SUBSCRIPTION_STATES } from '../rules/order.js';
import { dropOpenCycles, endCycle, endSubscription, endsWith, restSubscription, touchSubscription } from './subscription-cycle.js';

const { SCHEDULED, PROCESSING, PLACED, SKIPPED, FAILED } = ScheduledOrderStatus;
const { PAST_DUE, ACTIVE } = ProductSubscriptionStatus;

interface Rows {
  cycle: ScheduledCycle;
  subscription: ProductSubscription;
  isOpen: boolean;
}

/** A cycle with its subscription, locked; the order that it made is locked already. Null: it was erased. */
async function lockCycle(ctx: Context, id: string): Promise<Rows | null> {
  const known = await findRow(ctx, ScheduledCycle, { id });
  if (!known) return null;
  const subscription = await lockRow(ctx, ProductSubscription, { id: known.subscriptionId });
  const cycle = await lockRow(ctx, ScheduledCycle, { id });
  return { cycle, subscription, isOpen: cycle.status === SCHEDULED || cycle.status === PROCESSING };
}

/** The order of a cycle is placed; one that was past due is active again. One that is paid after it was given up counts, and moves nothing else. */
export async function scheduledOrderPlaced(ctx: Context, id: string): Promise<void> {
  const rows = await lockCycle(ctx, id);
  if (!rows) return;
  const { cycle, subscription, isOpen } = rows;
  if (!isOpen) return void Object.assign(cycle, { status: PLACED, failureCode: null });
  if (subscription.status === PAST_DUE) {
    subscription.status = move(SUBSCRIPTION_STATES, 'subscription', subscription.status, 'recover');
    subscription.pastDueSince = null;
  }
  await endCycle(ctx, subscription, cycle, PLACED);
}

/** The order of a cycle is paid and cannot be delivered: it is paid back, and the cycle is left out. */
export async function scheduledOrderLost(ctx: Context, id: string, code: string): Promise<void> {
  const rows = await lockCycle(ctx, id);
  if (rows?.isOpen) await endCycle(ctx, rows.subscription, rows.cycle, SKIPPED, code);
}

/**
 * A renewal was declined, for the n-th time, by the answer of payments or by its event, whichever comes first; the other one changes nothing.
 * @returns whether that was the last try: then its order is to be given up, and the subscription rests. Source: commerce 3.
 */
export async function renewalDeclined(ctx: Context, id: string, attempt: number, code: string): Promise<boolean> {
  const rows = await lockCycle(ctx, id);
  if (!rows?.isOpen || attempt <= rows.cycle.attempts) return false;
  const { cycle, subscription } = rows;
  const next = retryAt(attempt, ctx.now());
  Object.assign(cycle, { attempts: attempt, nextAttemptAt: next, failureCode: code });
  if (subscription.status === ACTIVE) {
    subscription.status = move(SUBSCRIPTION_STATES, 'subscription', subscription.status, 'decline');
    subscription.pastDueSince = ctx.now();
    touchSubscription(ctx, subscription);
    ctx.audit('product_subscription.past_due', subscription.id);
  }
  return next === null;
}

/** The order of a cycle was given up unpaid: the cycle has failed, and the subscription rests until somebody resumes it. */
export async function scheduledOrderExpired(ctx: Context, id: string): Promise<void> {
  const rows = await lockCycle(ctx, id);
  if (!rows?.isOpen) return;
  const { cycle, subscription } = rows;
  Object.assign(cycle, { status: FAILED, nextAttemptAt: null, failureCode: cycle.failureCode ?? 'payment_expired' });
  await dropOpenCycles(ctx, subscription.id);
  if (endsWith(subscription, cycle)) return endSubscription(ctx, subscription, 'user');
  if (subscription.status === ACTIVE) subscription.status = move(SUBSCRIPTION_STATES, 'subscription', subscription.status, 'decline');
  restSubscription(ctx, subscription, 'payment_failed', null);
}
