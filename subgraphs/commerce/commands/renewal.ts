import { findRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { after, DAY_MS, HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { Cart, type PersonalData } from '../entities/cart.js';
import { CartProblemCode, OrderSource, OutOfStockPolicy, ProductStatus, ScheduledOrderStatus } from '../entities/enums.js';
import { Order } from '../entities/order.js';
import { ScheduledCycle, type ScheduledLine } from '../entities/scheduled-cycle.js';
import { ProductSubscription } from '../entities/subscription.js';
import { brandOf, type Brand } from '../ports/brands.js';
import { within } from '../ports/neighbour.js';
import { paymentsOf, type SessionAnswer } from '../ports/payments.js';
import { offeredVariants, type CartLine } from '../queries/cart-lines.js';
import { outsideFacts, priceCart, type OutsideFacts, type PricedCart } from '../queries/priced-cart.js';
import { linesOn, personalOfSubscription, subscriptionItems } from '../queries/subscription.js';
import { cadenceKey, WAIT_DAYS } from '../rules/cadence.js';
import { unitPriceOf } from '../rules/cycles.js';
import { refusedProducts } from './checkout-facts.js';
import { draftOrder } from './order-draft.js';
import { expireOrder, settleOrder } from './order-outcome.js';
import { lockRenewalOrder } from './order-row.js';
import { toPay } from './payment-task.js';
import { renewalDeclined } from './scheduled-outcome.js';
import { lockDemand, reserve, shortageOf } from './stock.js';
import { endCycle } from './subscription-cycle.js';

/** A cycle that its process has not ended by then is taken over. */
export const RENEWAL_LEASE_MS = 2 * MINUTE_MS;
/** How long the order of a renewal may be paid: beyond the last retry, 120 hours after the first. Source: commerce 3. */
const PAYMENT_MS = 6 * DAY_MS;
/** How often it is looked whether what it waits for is there: stock, a clearance, an address that is served. */
const LOOK_MS = 6 * HOUR_MS;
/** When payments was silent. */
const SILENCE_MS = 10_000;
const AGAIN_MS = 5 * MINUTE_MS;

const { SCHEDULED, PROCESSING, SKIPPED } = ScheduledOrderStatus;

/** What must be known of a renewal before its order is made. */
interface Renewal {
  subscription: ProductSubscription;
  lines: ScheduledLine[];
  cart: Cart;
  cartLines: CartLine[];
  personal: PersonalData | null;
  brand: Brand;
  outside: OutsideFacts;
  refused: boolean;
}

/** A subscription as pricing sees it. */
const cartOf = ({ id, userId, brandId, currency, country, shippingMethodCode }: ProductSubscription): Cart =>
  Object.assign(new Cart(), { id, userId, brandId, currency, country, shippingMethodCode, promoCode: null, notes: [] });

/** Lines at their locked prices; what is not sold any more has none. */
async function renewalLines(ctx: Context, subscription: ProductSubscription, lines: readonly ScheduledLine[]): Promise<CartLine[]> {
  const ids = lines.map(one => one.variantId);
  const offered = await offeredVariants(ctx, ids, subscription);
  const { cadence } = subscription;
  return lines.flatMap(line => {
    const sold = offered.get(line.variantId);
    if (!sold) return [];
    const own = { id: line.itemId, quantity: line.quantity, cadence: cadenceKey(cadence), unitPriceWhenAdded: unitPriceOf(line) };
    const price = { amount: sold.amount === null ? null : line.unitPrice, offers: [{ cadence, discountBps: line.discountBps }] };
    return [{ ...sold, ...own, ...price, lostCover: false, reserved: 0, reservedUntil: null, takeable: Infinity }];
  });
}

/** Reads what is here, then asks the others; outside transactions. @throws Problem unavailable. */
async function prepare(host: ServiceHost, cycleId: string): Promise<Renewal | null> {
  return host.read(async ctx => {
    const cycle = await findRow(ctx, ScheduledCycle, { id: cycleId });
    const subscription = cycle && (await findRow(ctx, ProductSubscription, { id: cycle.subscriptionId }));
    if (!cycle || !subscription) return null;
    const lines = linesOn(await subscriptionItems(ctx, [subscription.id]), cycle.orderOn, cycle.items);
    const [cart, cartLines] = [cartOf(subscription), await renewalLines(ctx, subscription, lines)];
    const personal = personalOfSubscription(ctx, subscription);
    const brand = await brandOf(host, { id: subscription.brandId });
    const outside = await outsideFacts(ctx, cart, personal, cartLines, true);
    const refused = (await refusedProducts(ctx, subscription.userId, cartLines)).size > 0;
    return { subscription, lines, cart, cartLines, personal, brand, outside, refused };
  });
}

const ADDRESS: readonly CartProblemCode[] = [CartProblemCode.ADDRESS_REQUIRED, CartProblemCode.ADDRESS_NOT_SERVED];

/** Priced as it costs now; a way of shipping that is gone gives way to the cheapest. */
async function priced(ctx: Context, { cart, personal, cartLines, outside }: Renewal): Promise<PricedCart> {
  const found = await priceCart(ctx, cart, personal, cartLines, outside);
  if (!found.problems.some(one => one.code === CartProblemCode.SHIPPING_METHOD_UNAVAILABLE)) return found;
  return priceCart(ctx, Object.assign(cart, { shippingMethodCode: null }), personal, cartLines, outside);
}

/** What keeps an order from being made, and whether waiting may help. */
type Obstacle = { code: string; waits: boolean };

async function obstacleOf(
  ctx: Context,
  renewal: Renewal,
  price: PricedCart,
  demand: ReadonlyMap<string, number>,
): Promise<Obstacle | null> {
  const { subscription, lines, cartLines, refused } = renewal;
  if (refused) return { code: 'requirement_not_met', waits: true };
  if (cartLines.length < lines.length || cartLines.some(one => one.amount === null || one.status !== ProductStatus.ACTIVE))
    return { code: 'not_sold', waits: false };
  if (price.problems.some(one => ADDRESS.includes(one.code))) return { code: 'address_not_served', waits: true };
  if (await shortageOf(ctx, demand)) return { code: 'out_of_stock', waits: subscription.outOfStock === OutOfStockPolicy.WAIT };
  return null;
}

/** Waits seven days at most, then the cycle is left out; nothing is charged meanwhile. Source: commerce 7.22. */
async function hinder(ctx: Context, subscription: ProductSubscription, cycle: ScheduledCycle, { code, waits }: Obstacle): Promise<void> {
  const until = after(cycle.dueAt, WAIT_DAYS * DAY_MS);
  if (!waits || until <= ctx.now()) return endCycle(ctx, subscription, cycle, SKIPPED, code);
  Object.assign(cycle, { failureCode: code, nextAttemptAt: new Date(Math.min(after(ctx.now(), LOOK_MS).getTime(), until.getTime())) });
}

/** The subscription and its cycle, locked, while the cycle may still be ordered. */
async function lockOpen(ctx: Context, cycleId: string, subscriptionId: string) {
  const subscription = await lockRow(ctx, ProductSubscription, { id: subscriptionId });
  const cycle = await lockRow(ctx, ScheduledCycle, { id: cycleId });
  return cycle.status === SCHEDULED || cycle.status === PROCESSING ? { subscription, cycle } : null;
}

/** Transaction 1: the one order of a cycle, with what it reserves; later tries find it. @returns its id; null: there is nothing to pay. */
async function openOrder(ctx: Context, cycleId: string, renewal: Renewal): Promise<string | null> {
  const demand = await lockDemand(ctx, renewal.cartLines);
  const rows = await lockOpen(ctx, cycleId, renewal.subscription.id);
  if (!rows || rows.cycle.orderId !== null) return rows?.cycle.orderId ?? null;
  const { subscription, cycle } = rows;
  if (subscription.version !== renewal.subscription.version) {
    cycle.nextAttemptAt = ctx.now(); // changed since it was looked at
    return null;
  }
  const price = await priced(ctx, renewal);
  const obstacle = await obstacleOf(ctx, renewal, price, demand);
  if (obstacle) {
    await hinder(ctx, subscription, cycle, obstacle);
    return null;
  }
  const order = await draftOrder(ctx, {
    brand: renewal.brand,
    priced: price,
    personalData: renewal.personal,
    userId: subscription.userId,
    subscriptionId: subscription.id,
    scheduledOrderId: cycle.id,
    source: OrderSource.SUBSCRIPTION,
    currency: subscription.currency,
    country: subscription.country,
    payment: { paymentMethodId: subscription.paymentMethodId, offSession: true },
    expiresAt: after(ctx.now(), PAYMENT_MS),
  });
  await reserve(ctx, { kind: 'subscription', orderId: order.id }, demand, order.expiresAt!);
  Object.assign(cycle, { orderId: order.id, status: PROCESSING, failureCode: null });
  ctx.audit('order.created', order.id, { total: order.total, currency: order.currency, subscription: subscription.id });
  return order.id;
}

/** The method may be another one by now. */
async function paymentOf(ctx: Context, order: Order): Promise<Order> {
  const subscription = await findRow(ctx, ProductSubscription, { id: order.subscriptionId! });
  return Object.assign(order, { payment: { ...order.payment, paymentMethodId: subscription?.paymentMethodId ?? null } });
}

type Outcome = { session: SessionAnswer | null; refusal: Problem | null };

/** Refusals after which the attempt is over. */
const ENDING = ['payment_declined', 'invalid_request', 'conflict', 'forbidden', 'not_found'];

/** Has an order paid, outside transactions. The n-th attempt has one key, so that a repeat of it charges nothing twice. @throws Problem unavailable. */
async function pay(host: ServiceHost, orderId: string, attempt: number): Promise<Outcome> {
  const order = await host.read(async ctx => paymentOf(ctx, (await findRow(ctx, Order, { id: orderId }))!));
  if (order.total === 0) return { session: null, refusal: null };
  const port = paymentsOf(host);
  const { checkoutSessionId: session } = order;
  const isFirst = attempt === 1 || session === null;
  const asked = isFirst ? port.createCheckout(toPay(order)) : port.confirmCheckout(toPay(order), session, `${orderId}:${attempt}`);
  return within(SILENCE_MS, asked).then(
    answer => ({ session: answer, refusal: null }),
    error => {
      if (error instanceof Problem && ENDING.includes(error.code)) return { session: null, refusal: error };
      throw error;
    },
  );
}

const declineCodeOf = (refusal: Problem): string => {
  const code = refusal.options.members?.declineCode;
  return typeof code === 'string' ? code : refusal.code;
};

/** Transaction 2: what payments has said. */
async function record(ctx: Context, orderId: string, attempt: number, { session, refusal }: Outcome): Promise<void> {
  const order = await lockRenewalOrder(ctx, orderId);
  const known = refusal?.options.members?.checkoutSessionId ?? session?.id;
  if (typeof known === 'string') order.checkoutSessionId = known;
  if (order.total === 0) return settleOrder(ctx, order, { amount: 0, currency: order.currency });
  if (session?.settled) return settleOrder(ctx, order, session.settled);
  if (session?.status === 'PROCESSING') return; // payments tells the end
  const code = refusal ? declineCodeOf(refusal) : 'authentication_required';
  if (await renewalDeclined(ctx, order.scheduledOrderId!, attempt, code)) await expireOrder(ctx, order);
}

/** A renewal whose payment still runs is not looked at again: its events end it, or the end of its order's time. */
const REST =
  'update commerce.scheduled_order set next_attempt_at = null where id = $1 and status = $2 and next_attempt_at = $3 and attempts < $4';

/** Works on a cycle that is due, outside transactions: makes its order once, has it paid, notes the outcome. Source: commerce 3, 7.17. */
export async function renew({ host, log }: Context, { id, nextAttemptAt }: ScheduledCycle): Promise<void> {
  try {
    const renewal = await prepare(host, id);
    const orderId = renewal && (await host.transaction(ctx => openOrder(ctx, id, renewal)));
    if (!orderId) return;
    const attempt = await host.read(async ctx => ((await findRow(ctx, ScheduledCycle, { id }))?.attempts ?? 0) + 1);
    const outcome = await pay(host, orderId, attempt);
    await host.transaction(async ctx => {
      await record(ctx, orderId, attempt, outcome);
      await ctx.em.flush();
      await ctx.sql(REST, [id, PROCESSING, nextAttemptAt?.toISOString() ?? null, attempt]);
    });
  } catch (error) {
    log.warn({ cycle: id, code: error instanceof Problem ? error.code : 'error' }, 'a renewal could not be made');
    await host.transaction(async ctx => {
      await ctx.em.nativeUpdate(
        ScheduledCycle,
        { id, status: { $in: [SCHEDULED, PROCESSING] } },
        { nextAttemptAt: after(ctx.now(), AGAIN_MS) },
      );
    });
  }
}
