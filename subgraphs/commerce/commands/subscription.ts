import { subscriptionResumed } from '../../../events/catalogue/payments.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { requireVersion } from '../../../runtime/data/rows.js';
import { preparation } from '../../../runtime/request/operation.js';
import { move } from '../../../runtime/request/states.js';
import { CadenceEffective, CadenceUnit, ProductSubscriptionStatus, SubscriptionCancelAt } from '../entities/enums.js';
import { ScheduledCycle } from '../entities/scheduled-cycle.js';
import type { ProductSubscription } from '../entities/subscription.js';
import type {
  CancelProductSubscriptionInput,
  ChangeProductSubscriptionCadenceInput,
  PauseProductSubscriptionInput,
  ResumeProductSubscriptionInput,
  UpdateProductSubscriptionInput,
} from '../inputs/subscription.js';
import { paymentsOf } from '../ports/payments.js';
import { personalOfSubscription, subscriptionById, subscriptionItems } from '../queries/subscription.js';
import { addDays, dayOf, nextAfter, nextDate } from '../rules/cadence.js';
import { cyclesFrom } from '../rules/cycles.js';
import { SUBSCRIPTION_STATES } from '../rules/order.js';
import { addressFrom } from '../rules/personal.js';
import { expireOrder } from './order-outcome.js';
import { NOBODY, sealPersonal } from './personal.js';
import {
  changedBy,
  dropOpenCycles,
  endSubscription,
  forgetLater,
  lockSubscription,
  lockWithOrder,
  moveCycle,
  openCycleOf,
  restSubscription,
  scheduleCycle,
  touchSubscription,
} from './subscription-cycle.js';
import { requireCadence } from './subscription-create.js';
import { conflict, requireActive, requireEditable, requireLiving, today } from './subscription-guards.js';
import { offersOf } from './subscription-offer.js';

const { PAUSED } = ProductSubscriptionStatus;
/** Source: commerce 4.3. */
const PAUSE_DAYS = 180;
const RESUME_DAYS = 90;

/** The civil date between two others, counted in days from today. */
function requireDate(
  ctx: Context,
  subscription: ProductSubscription,
  date: string,
  { from, to, pointer }: { from: number; to: number; pointer: string },
): void {
  const now = today(ctx, subscription);
  if (date < addDays(now, from) || date > addDays(now, to)) invalid(pointer, `must be ${from} to ${to} days from today`);
}

/** The locked prices stay; the discount is that of the new cadence. @throws Problem conflict `offer_not_available`. */
async function discountAs(
  ctx: Context,
  subscription: ProductSubscription,
  cadence: ChangeProductSubscriptionCadenceInput['cadence'],
): Promise<void> {
  const { id, brandId, currency, country } = subscription;
  const items = await subscriptionItems(ctx, [id]);
  const offers = await offersOf(
    ctx,
    items.map(one => one.variantId),
    { brandId, currency, country, cadence },
  );
  for (const [index, { id: itemId }] of items.entries())
    await ctx.sql('update commerce.product_subscription_item set discount_bps = $2 where id = $1', [itemId, offers[index]!.discountBps]);
}

/** @throws Problem not_found, conflict, invalid_request. */
export async function changeCadence(ctx: Context, input: ChangeProductSubscriptionCadenceInput): Promise<ProductSubscription> {
  const { cadence, effective, nextOrderOn } = input;
  requireCadence(cadence);
  const subscription = await lockSubscription(ctx, input.id);
  requireLiving(subscription);
  const cycle = await openCycleOf(ctx, subscription.id);
  if (cycle) requireEditable(ctx, subscription, cycle);
  if (nextOrderOn != null) requireDate(ctx, subscription, nextOrderOn, { from: 1, to: RESUME_DAYS, pointer: '/input/nextOrderOn' });
  await discountAs(ctx, subscription, cadence);
  Object.assign(subscription, { cadenceUnit: cadence.unit, cadenceCount: cadence.count });
  const moved = nextOrderOn ?? (effective === CadenceEffective.NOW ? nextDate(today(ctx, subscription), cadence, null) : null);
  const from = moved ?? subscription.nextOrderOn ?? today(ctx, subscription);
  subscription.anchorDay = cadence.unit === CadenceUnit.MONTH ? dayOf(from) : null;
  if (cycle) await forgetLater(ctx, subscription, cycle.cycleIndex);
  if (cycle && moved !== null) {
    requireEditable(ctx, subscription, { cycleIndex: cycle.cycleIndex, orderOn: moved });
    moveCycle(subscription, cycle, moved);
    subscription.nextOrderOn = moved;
  }
  touchSubscription(ctx, subscription);
  ctx.audit('product_subscription.cadence_changed', subscription.id, { unit: cadence.unit, count: cadence.count });
  return subscription;
}

/** The order of what is given up is not to be paid any more. */
async function letGo(ctx: Context, { order, subscription }: Awaited<ReturnType<typeof lockWithOrder>>): Promise<void> {
  await dropOpenCycles(ctx, subscription.id);
  if (order) await expireOrder(ctx, order);
}

/** @throws Problem not_found, conflict `already_cancelled`. */
export async function cancelProductSubscription(
  ctx: Context,
  { id, at, reason, comment }: CancelProductSubscriptionInput,
): Promise<ProductSubscription> {
  const locked = await lockWithOrder(ctx, id);
  const { subscription } = locked;
  requireLiving(subscription);
  const seal = (text: string, column: string): Buffer => ctx.host.sealer.seal(text, `product_subscription:${subscription.id}:${column}`);
  subscription.cancelReason = seal(reason, 'cancel_reason');
  subscription.cancelComment = comment == null ? null : seal(comment, 'cancel_comment');
  if (at === SubscriptionCancelAt.AFTER_NEXT_ORDER) {
    requireActive(subscription);
    subscription.cancelAfterCycle = subscription.cycleIndex;
    touchSubscription(ctx, subscription);
    ctx.audit('product_subscription.ends_after_next', subscription.id, { cycle: subscription.cycleIndex });
    return subscription;
  }
  await letGo(ctx, locked);
  endSubscription(ctx, subscription, changedBy(ctx));
  return subscription;
}

/** The day before the order that comes after so many cycles: resumed then, that order is the next. */
const restFor = (subscription: ProductSubscription, cycle: ScheduledCycle, cycles: number): string =>
  addDays(cyclesFrom(cycle, subscription, new Map(), cycles + 1).at(-1)!.orderOn, -1);

/** @throws Problem not_found, conflict `not_active`, invalid_request. */
export async function pauseProductSubscription(
  ctx: Context,
  { id, until, cycles }: PauseProductSubscriptionInput,
): Promise<ProductSubscription> {
  if (until != null && cycles != null) invalid('/input/cycles', 'only one of until and cycles');
  const locked = await lockWithOrder(ctx, id);
  const { subscription, cycle } = locked;
  requireActive(subscription);
  if (until != null) requireDate(ctx, subscription, until, { from: 1, to: PAUSE_DAYS, pointer: '/input/until' });
  const rest = until ?? (cycles != null && cycle ? restFor(subscription, cycle, cycles) : null);
  await letGo(ctx, locked);
  restSubscription(ctx, subscription, changedBy(ctx), rest);
  return subscription;
}

/** The last cycle that was decided on: the next gets the number after it. */
async function lastCycle(ctx: Context, subscriptionId: string): Promise<ScheduledCycle | null> {
  await ctx.em.flush();
  return ctx.em.findOne(ScheduledCycle, { subscriptionId }, { orderBy: { cycleIndex: 'desc' } });
}

/** Makes one that rests active again. The caller has locked it. */
export async function wake(
  ctx: Context,
  subscription: ProductSubscription,
  nextOrderOn: string | null,
  reason: 'user' | 'staff',
): Promise<void> {
  const now = today(ctx, subscription);
  const last = await lastCycle(ctx, subscription.id);
  const from = last?.orderOn ?? now;
  const orderOn = nextOrderOn ?? nextAfter(from, subscription.cadence, subscription.anchorDay, now);
  subscription.status = move(SUBSCRIPTION_STATES, 'subscription', subscription.status, 'resume');
  const next = { cycleIndex: (last?.cycleIndex ?? -1) + 1, orderOn };
  Object.assign(subscription, { ...next, nextOrderOn: orderOn, pausedUntil: null });
  scheduleCycle(ctx, subscription, next);
  touchSubscription(ctx, subscription);
  const { id, userId, brandId } = subscription;
  ctx.emit(subscriptionResumed, { kind: 'product', subscription_id: id, reason, next_order_on: orderOn }, { userId, brandId });
  ctx.audit('product_subscription.resumed', id);
}

/** @throws Problem not_found, conflict `not_paused`, invalid_request. */
export async function resumeProductSubscription(
  ctx: Context,
  { id, nextOrderOn }: ResumeProductSubscriptionInput,
): Promise<ProductSubscription> {
  const subscription = await lockSubscription(ctx, id);
  if (subscription.status !== PAUSED) conflict('not_paused', 'The subscription is not paused');
  if (nextOrderOn != null) requireDate(ctx, subscription, nextOrderOn, { from: 1, to: RESUME_DAYS, pointer: '/input/nextOrderOn' });
  await wake(ctx, subscription, nextOrderOn ?? null, changedBy(ctx));
  return subscription;
}

const DUE = `
select id from commerce.product_subscription
where status = 'paused' and paused_until <= ($1::timestamptz at time zone time_zone)::date order by id limit 50`;

/** Those that rest until a day go on at its beginning. */
export async function wakeRested(ctx: Context, at: Date): Promise<void> {
  for (const { id } of await ctx.sql<{ id: string }>(DUE, [at.toISOString()])) {
    const subscription = await lockSubscription(ctx, id);
    if (subscription.status === PAUSED && subscription.pausedUntil !== null) await wake(ctx, subscription, null, 'user');
  }
}

/** A method must be the member's own. @throws Problem not_found, unavailable. */
export const methodFacts = preparation(async (ctx: Context, { input }: { input: UpdateProductSubscriptionInput }): Promise<null> => {
  if (input.paymentMethodId == null) return null;
  const subscription = (await subscriptionById(ctx, input.id)) ?? fail('not_found', 'No such subscription');
  const isOwn = await paymentsOf(ctx.host).hasMethod(subscription.userId, input.paymentMethodId);
  return isOwn ? null : fail('not_found', 'No such payment method');
});

/** What is given takes the place of what was. @throws Problem not_found, conflict, invalid_request. */
export async function updateProductSubscription(ctx: Context, input: UpdateProductSubscriptionInput): Promise<ProductSubscription> {
  const subscription = await lockSubscription(ctx, input.id);
  requireLiving(subscription);
  requireVersion(subscription, input.version);
  const required = (['paymentMethodId', 'outOfStock', 'shippingAddress', 'recipientName'] as const).filter(name => input[name] === null);
  requireValid(required.map(name => ({ pointer: `/input/${name}`, message: 'is required' })));
  const { paymentMethodId, shippingMethodCode, outOfStock, shippingAddress, recipientName } = input;
  if (paymentMethodId != null) subscription.paymentMethodId = paymentMethodId.toLowerCase();
  if (shippingMethodCode !== undefined) subscription.shippingMethodCode = shippingMethodCode;
  if (outOfStock != null) subscription.outOfStock = outOfStock;
  const personal = { ...NOBODY, ...personalOfSubscription(ctx, subscription) };
  if (shippingAddress)
    Object.assign(personal, { shippingAddress: addressFrom(shippingAddress), billingAddress: addressFrom(shippingAddress) });
  if (recipientName != null) personal.recipientName = recipientName;
  if (shippingAddress) subscription.country = shippingAddress.countryCode.toUpperCase();
  subscription.personal = sealPersonal(ctx, personal, 'product_subscription', subscription.id);
  touchSubscription(ctx, subscription);
  ctx.audit('product_subscription.updated', subscription.id);
  return subscription;
}
