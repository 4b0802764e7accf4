import { subscriptionCancelled, subscriptionPaused } from '../../../events/catalogue/payments.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { ProductSubscriptionStatus, ScheduledOrderStatus } from '../entities/enums.js';
import type { Order } from '../entities/order.js';
import { ScheduledCycle } from '../entities/scheduled-cycle.js';
import { ProductSubscription } from '../entities/subscription.js';
import { ownSubscriptions } from '../queries/subscription.js';
import { orderInstant } from '../rules/cadence.js';
import { cycleAfter, cycleId, type CycleOf } from '../rules/cycles.js';
import { SUBSCRIPTION_STATES } from '../rules/order.js';
import { lockRenewalOrder } from './order-row.js';

const { SCHEDULED, PROCESSING, SKIPPED, CANCELLED, PLACED, FAILED } = ScheduledOrderStatus;
const OPEN = { $in: [SCHEDULED, PROCESSING] };

/** Why a subscription was changed, as others may know it: never the member's own words. Source: commerce 5. */
export type ChangeReason = 'user' | 'staff' | 'payment_failed';

export const changedBy = ({ caller }: Context): 'user' | 'staff' => (caller.kind === 'user' ? 'user' : 'staff');

export function touchSubscription(ctx: Context, subscription: ProductSubscription): void {
  subscription.updatedAt = ctx.now();
  subscription.version += 1;
}

/** A subscription of the caller, or anybody's for services, locked. @throws Problem not_found. */
export const lockSubscription = (
  ctx: Context,
  id: string,
  own: { userId?: string } = ownSubscriptions(ctx),
): Promise<ProductSubscription> => lockRow(ctx, ProductSubscription, { id: id.toLowerCase(), ...own }, 'No such subscription');

/** The cycle that waits for its day, or is being ordered. */
export const openCycleOf = (ctx: Context, subscriptionId: string): Promise<ScheduledCycle | null> =>
  ctx.em.findOne(
    ScheduledCycle,
    { subscriptionId: subscriptionId.toLowerCase(), status: OPEN },
    { orderBy: { cycleIndex: 'asc' }, refresh: true },
  );

/** A subscription with its open cycle, and that cycle's order; all locked. */
export interface Locked {
  subscription: ProductSubscription;
  cycle: ScheduledCycle | null;
  order: Order | null;
}

/** @throws Problem not_found; conflict while its order is just being made. */
export async function lockWithOrder(ctx: Context, id: string): Promise<Locked> {
  const before = await openCycleOf(ctx, id);
  const order = before?.orderId ? await lockRenewalOrder(ctx, before.orderId) : null;
  const subscription = await lockSubscription(ctx, id);
  const cycle = await openCycleOf(ctx, id);
  if ((cycle?.orderId ?? null) !== (order?.id ?? null)) fail('conflict', 'Its order is being made', { reason: 'cutoff_passed' });
  return { subscription, cycle, order };
}

/** Writes down a cycle that is to be ordered on its day. */
export function scheduleCycle(ctx: Context, { id, timeZone }: ProductSubscription, { cycleIndex, orderOn }: CycleOf): ScheduledCycle {
  const dueAt = orderInstant(orderOn, timeZone);
  const cycle = Object.assign(new ScheduledCycle(), {
    id: cycleId(id, cycleIndex),
    subscriptionId: id,
    cycleIndex,
    orderOn,
    dueAt,
    nextAttemptAt: dueAt,
    createdAt: ctx.now(),
  });
  ctx.em.persist(cycle);
  return cycle;
}

/** Moves a cycle that is not being ordered to another day. */
export function moveCycle({ timeZone }: ProductSubscription, cycle: ScheduledCycle, orderOn: string): void {
  const dueAt = orderInstant(orderOn, timeZone);
  Object.assign(cycle, { orderOn, dueAt, nextAttemptAt: dueAt });
}

/** The announced price of what is ordered from a day on is the locked one. Source: commerce 7.20. */
const REPRICE = `
update commerce.product_subscription_item set unit_price = pending_amount, pending_amount = null, pending_from = null
where subscription_id = $1 and pending_from <= $2::date`;

/** From here on the subscription waits for this cycle. */
async function awaitCycle(ctx: Context, subscription: ProductSubscription, { cycleIndex, orderOn }: CycleOf): Promise<void> {
  Object.assign(subscription, { cycleIndex, nextOrderOn: orderOn });
  await ctx.sql(REPRICE, [subscription.id, orderOn]);
}

/**
 * Goes on to the cycle after one that is over. Cycles that were left out stay so; where one was ordered, others that have been due meanwhile
 * are left out, too: after downtime the oldest is ordered once. Source: commerce 7.21.
 */
export async function goOn(ctx: Context, subscription: ProductSubscription, over: CycleOf, wasOrdered: boolean): Promise<void> {
  await ctx.em.flush();
  const later = { subscriptionId: subscription.id, cycleIndex: { $gt: over.cycleIndex } };
  const known = new Map((await ctx.em.find(ScheduledCycle, later)).map(one => [one.cycleIndex, one]));
  for (let next = cycleAfter(over, subscription); ; next = cycleAfter(next, subscription)) {
    const cycle = known.get(next.cycleIndex) ?? scheduleCycle(ctx, subscription, next);
    next = cycle;
    if (cycle.status === SKIPPED) continue;
    if (!wasOrdered || cycle.dueAt > ctx.now()) return awaitCycle(ctx, subscription, cycle);
    Object.assign(cycle, { status: SKIPPED, nextAttemptAt: null, failureCode: 'missed' });
  }
}

const ENDED = { nextOrderOn: null, pausedUntil: null, pastDueSince: null } as const;

/** It is over: what was to come does not. The caller has dealt with an order that is being paid. */
export function endSubscription(ctx: Context, subscription: ProductSubscription, reason: ChangeReason): void {
  subscription.status = move(SUBSCRIPTION_STATES, 'subscription', subscription.status, 'cancel');
  Object.assign(subscription, ENDED);
  touchSubscription(ctx, subscription);
  const { id, userId, brandId } = subscription;
  ctx.emit(subscriptionCancelled, { kind: 'product', subscription_id: id, reason }, { userId, brandId });
  ctx.audit('product_subscription.cancelled', id, { reason });
}

/** It rests until a day, or until somebody resumes it. */
export function restSubscription(ctx: Context, subscription: ProductSubscription, reason: ChangeReason, until: string | null): void {
  const trigger = reason === 'payment_failed' ? 'give_up' : 'pause';
  subscription.status = move(SUBSCRIPTION_STATES, 'subscription', subscription.status, trigger);
  Object.assign(subscription, { ...ENDED, pausedUntil: until });
  touchSubscription(ctx, subscription);
  const { id, userId, brandId } = subscription;
  ctx.emit(subscriptionPaused, { kind: 'product', subscription_id: id, reason, until }, { userId, brandId });
  ctx.audit('product_subscription.paused', id, { reason, until });
}

/** What was to come does not; cycles that were left out keep telling so. */
export async function dropOpenCycles(ctx: Context, subscriptionId: string): Promise<void> {
  await ctx.em.flush();
  const open = await ctx.em.find(ScheduledCycle, { subscriptionId, status: OPEN }, { refresh: true });
  for (const cycle of open) Object.assign(cycle, { status: CANCELLED, nextAttemptAt: null });
}

/** Whether somebody wanted it to be over with this cycle. */
export const endsWith = ({ cancelAfterCycle }: ProductSubscription, { cycleIndex }: CycleOf): boolean =>
  cancelAfterCycle !== null && cycleIndex >= cancelAfterCycle;

/** A cycle is over; the subscription goes on to the next, or ends with it where somebody wanted so. Rows are locked. */
export async function endCycle(
  ctx: Context,
  subscription: ProductSubscription,
  cycle: ScheduledCycle,
  status: typeof PLACED | typeof SKIPPED | typeof FAILED,
  failureCode: string | null = null,
): Promise<void> {
  Object.assign(cycle, { status, failureCode, nextAttemptAt: null });
  touchSubscription(ctx, subscription);
  if (endsWith(subscription, cycle)) {
    await dropOpenCycles(ctx, subscription.id);
    return endSubscription(ctx, subscription, 'user');
  }
  if (subscription.status === ProductSubscriptionStatus.ACTIVE || subscription.status === ProductSubscriptionStatus.PAST_DUE)
    await goOn(ctx, subscription, cycle, status === PLACED);
}

/** What was decided for later cycles was of the calendar that does not hold any more. */
export async function forgetLater(ctx: Context, { id: subscriptionId }: ProductSubscription, cycleIndex: number): Promise<void> {
  await ctx.em.flush();
  await ctx.em.nativeDelete(ScheduledCycle, { subscriptionId, cycleIndex: { $gt: cycleIndex } });
}
