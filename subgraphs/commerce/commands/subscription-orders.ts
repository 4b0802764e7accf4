import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { ScheduledOrderStatus } from '../entities/enums.js';
import { ScheduledCycle } from '../entities/scheduled-cycle.js';
import { SKIPPED, type ProductSubscription } from '../entities/subscription.js';
import type { SkipScheduledOrderInput, UnskipScheduledOrderInput } from '../inputs/subscription.js';
import { cyclesFrom, type CycleOf } from '../rules/cycles.js';
import { endCycle, forgetLater, lockSubscription, openCycleOf, scheduleCycle, touchSubscription } from './subscription-cycle.js';
import { conflict, requireActive, requireEditable, today } from './subscription-guards.js';

/** Cycles ahead of which one can be left out. */
const SKIP_AHEAD = 12;

/** The cycle that is meant: by number, by day, or the next. @throws Problem not_found. */
async function meantCycle(
  ctx: Context,
  subscription: ProductSubscription,
  { cycleIndex, orderOn }: SkipScheduledOrderInput,
): Promise<CycleOf | ScheduledCycle> {
  const rows = await ctx.em.find(ScheduledCycle, { subscriptionId: subscription.id }, { orderBy: { cycleIndex: 'desc' } });
  const known = new Map(rows.map(one => [one.cycleIndex, one]));
  const next = { cycleIndex: subscription.cycleIndex, orderOn: subscription.nextOrderOn! };
  const coming = cyclesFrom(next, subscription, known, SKIP_AHEAD);
  const isMeant = (one: CycleOf): boolean =>
    cycleIndex != null ? one.cycleIndex === cycleIndex : orderOn != null ? one.orderOn === orderOn : one.cycleIndex === next.cycleIndex;
  return coming.find(isMeant) ?? rows.find(isMeant) ?? fail('not_found', 'No such order to come');
}

/** @throws Problem not_found, conflict `not_active`, `already_skipped`, `cutoff_passed`; invalid_request. */
export async function skipScheduledOrder(ctx: Context, input: SkipScheduledOrderInput): Promise<ProductSubscription> {
  if (input.cycleIndex != null && input.orderOn != null) invalid('/input/orderOn', 'only one of cycleIndex and orderOn');
  const subscription = await lockSubscription(ctx, input.id);
  requireActive(subscription);
  const meant = await meantCycle(ctx, subscription, input);
  if (meant instanceof ScheduledCycle && meant.status === ScheduledOrderStatus.SKIPPED)
    conflict('already_skipped', 'This order was left out already');
  requireEditable(ctx, subscription, meant);
  const cycle = meant instanceof ScheduledCycle ? meant : scheduleCycle(ctx, subscription, meant);
  await endCycleEarly(ctx, subscription, cycle);
  const { cycleIndex, orderOn } = cycle;
  SKIPPED.set(subscription, { cycleIndex, orderOn });
  ctx.audit('product_subscription.skipped', subscription.id, { cycle: cycleIndex });
  return subscription;
}

/** Leaves a cycle out; where it was the next, the one after it is. */
async function endCycleEarly(ctx: Context, subscription: ProductSubscription, cycle: ScheduledCycle): Promise<void> {
  if (cycle.cycleIndex === subscription.cycleIndex) return endCycle(ctx, subscription, cycle, ScheduledOrderStatus.SKIPPED);
  Object.assign(cycle, { status: ScheduledOrderStatus.SKIPPED, nextAttemptAt: null });
  touchSubscription(ctx, subscription);
}

/** Takes a skip back while there is time. @throws Problem not_found, conflict. */
export async function unskipScheduledOrder(ctx: Context, { id, cycleIndex }: UnskipScheduledOrderInput): Promise<ProductSubscription> {
  const subscription = await lockSubscription(ctx, id);
  requireActive(subscription);
  const cycle = await ctx.em.findOne(ScheduledCycle, { subscriptionId: subscription.id, cycleIndex }, { refresh: true });
  if (!cycle) return fail('not_found', 'No such order to come');
  if (cycle.status !== ScheduledOrderStatus.SKIPPED) conflict('not_skipped', 'This order was not left out');
  requireEditable(ctx, subscription, { cycleIndex, orderOn: cycle.orderOn });
  Object.assign(cycle, { status: ScheduledOrderStatus.SCHEDULED, nextAttemptAt: cycle.dueAt, failureCode: null });
  if (cycleIndex < subscription.cycleIndex) Object.assign(subscription, { cycleIndex, nextOrderOn: cycle.orderOn });
  touchSubscription(ctx, subscription);
  ctx.audit('product_subscription.unskipped', subscription.id, { cycle: cycleIndex });
  return subscription;
}

/** Orders now what would come next; the following orders count from today. @throws Problem not_found, conflict. */
export async function orderNow(ctx: Context, id: string): Promise<ProductSubscription> {
  const subscription = await lockSubscription(ctx, id);
  requireActive(subscription);
  const cycle = await openCycleOf(ctx, subscription.id);
  if (!cycle || cycle.status !== ScheduledOrderStatus.SCHEDULED) return conflict('cutoff_passed', 'Its order is being made');
  const orderOn = today(ctx, subscription);
  Object.assign(cycle, { orderOn, dueAt: ctx.now(), nextAttemptAt: ctx.now() });
  await forgetLater(ctx, subscription, cycle.cycleIndex);
  subscription.nextOrderOn = orderOn;
  touchSubscription(ctx, subscription);
  ctx.audit('product_subscription.ordered_now', subscription.id, { cycle: cycle.cycleIndex });
  return subscription;
}
