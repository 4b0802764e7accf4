import type { Context } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { findRow, lockRow } from '../../../runtime/data/rows.js';
import { Cart, type CartCheckout, type CartCheckoutSession } from '../entities/cart.js';
import { CartCheckoutStatus, CartProblemCode, CartStatus, OrderSource, OrderStatus } from '../entities/enums.js';
import { Order } from '../entities/order.js';
import type { CheckoutCartInput } from '../inputs/cart.js';
import { within } from '../ports/neighbour.js';
import { paymentsOf, type PromoCase, type SessionAnswer } from '../ports/payments.js';
import { cartLines } from '../queries/cart-lines.js';
import { priceCart, type PricedCart } from '../queries/priced-cart.js';
import { itemRows } from '../queries/order.js';
import type { Demand } from '../queries/stock.js';
import { isCommerce } from './cart-access.js';
import { touch } from './cart.js';
import { checkoutFacts, wantedCart } from './checkout-facts.js';
import { draftOrder } from './order-draft.js';
import { declineOrder, expireOrder, settleOrder } from './order-outcome.js';
import { lockOrder } from './order-row.js';
import { toPay } from './payment-task.js';
import { sealPersonal } from './personal.js';
import { drop, lockDemand, reserve } from './stock.js';

/** How long a buyer has for the payment. Source: commerce 3. */
const PAYMENT_MS = 30 * MINUTE_MS;
/** How long payments may be silent. Source: commerce 7.14. */
const SILENCE_MS = 10_000;
type Asked = { input: CheckoutCartInput };

const STOCK: readonly CartProblemCode[] = [CartProblemCode.OUT_OF_STOCK, CartProblemCode.INSUFFICIENT_STOCK];

/** @throws Problem conflict: nothing blocks, nothing has changed since it was seen. */
function requireReady(priced: PricedCart, input: CheckoutCartInput, currency: string): void {
  const blocking = priced.problems.filter(one => one.blocking);
  const errors = blocking.map(one => ({ pointer: one.itemId ? `/items/${one.itemId}` : '/', message: `${one.code}: ${one.message}` }));
  if (blocking.some(one => STOCK.includes(one.code)))
    fail('conflict', 'There is not enough in stock', { reason: 'insufficient_stock', errors });
  if (blocking.length > 0) fail('conflict', 'The cart cannot be checked out as it is', { reason: 'cart_blocked', errors });
  const { expectedTotal } = input;
  const { total } = priced.totals;
  if (expectedTotal && (expectedTotal.amount !== total || expectedTotal.currency !== currency))
    fail('conflict', 'The total has changed', {
      reason: 'price_changed',
      errors: [{ pointer: '/expected_total', message: String(total) }],
    });
}

/** The cart of a checkout, locked. @throws Problem not_found. */
const lockCart = (ctx: Context, id: string): Promise<Cart> =>
  lockRow(ctx, Cart, { id: id.toLowerCase(), ...(isCommerce(ctx) ? {} : { userId: ctx.caller.userId! }) }, 'No such cart');

/** Cadence lines are charged again and again, so their method must be known. */
function requireMethod(priced: PricedCart, input: CheckoutCartInput): void {
  if (priced.lines.some(one => one.cadence !== '') && input.paymentMethodId == null)
    fail('invalid_request', 'The input is invalid', {
      errors: [{ pointer: '/input/paymentMethodId', message: 'is required for what comes again' }],
    });
}

/**
 * Transaction 1: the order with its snapshots, its lines' reservations for 30 minutes. A repeat while it is being paid is that same order.
 * @throws Problem conflict, forbidden `requirement_not_met`.
 */
async function openOrder(ctx: Context, input: CheckoutCartInput): Promise<string> {
  const cart = await lockCart(ctx, input.id);
  if (cart.status === CartStatus.CHECKING_OUT && cart.orderId !== null) return cart.orderId;
  if (cart.status !== CartStatus.ACTIVE || cart.expiresAt <= ctx.now())
    fail('conflict', 'The cart is not open', { reason: 'cart_not_active' });
  if (input.expectedVersion != null && input.expectedVersion !== cart.version)
    fail('conflict', 'The cart was changed meanwhile', { reason: 'cart_changed' });
  const { brand, outside, personal, refused } = checkoutFacts.of(ctx);
  const wanted = wantedCart(cart, input, personal);
  const lines = await cartLines(ctx, wanted);
  if (lines.length === 0) fail('conflict', 'The cart is empty', { reason: 'cart_empty' });
  if (lines.some(one => refused.has(one.productId)))
    fail('forbidden', 'Something of it may not be bought without more', { reason: 'requirement_not_met' });
  const priced = await priceCart(ctx, wanted, personal, lines, outside);
  if (wanted.promoCode !== null && outside.promo && priced.totals.estimated && outside.promo.judgement.valid)
    fail('conflict', 'The cart was changed meanwhile', { reason: 'cart_changed' });
  requireReady(priced, input, cart.currency);
  requireMethod(priced, input);
  const demand = await lockDemand(ctx, priced.lines);
  const { paymentMethodId, useCash, returnUrl, cancelUrl } = input;
  const order = await draftOrder(ctx, {
    brand,
    priced,
    personalData: personal,
    userId: cart.userId,
    cartId: cart.id,
    source: OrderSource.WEB,
    currency: cart.currency,
    country: wanted.country,
    affiliateCode: cart.affiliateCode,
    promoCode: wanted.promoCode,
    payment: {
      paymentMethodId: paymentMethodId ?? null,
      useCash,
      returnUrl: returnUrl ?? null,
      cancelUrl: cancelUrl ?? null,
      timeZone: brand.timeZone,
    },
    expiresAt: after(ctx.now(), PAYMENT_MS),
  });
  await holdAll(ctx, cart, order, demand);
  const { promoCode, shippingMethodCode, country } = wanted;
  Object.assign(cart, { promoCode, shippingMethodCode, country, status: CartStatus.CHECKING_OUT, orderId: order.id });
  cart.personal = sealPersonal(ctx, personal, 'cart', cart.id);
  touch(ctx, cart);
  ctx.audit('order.created', order.id, { total: order.total, currency: order.currency });
  return order.id;
}

/** What the lines hold becomes the order's, for as long as it may be paid; their stock is locked. @throws Problem conflict `insufficient_stock`. */
async function holdAll(ctx: Context, cart: Cart, order: Order, demand: Demand): Promise<void> {
  await drop(ctx, 'cart_id', [cart.id]);
  const shortage = await reserve(ctx, { kind: 'checkout', orderId: order.id }, demand, order.expiresAt!);
  if (shortage)
    fail('conflict', 'There is not enough in stock', {
      reason: 'insufficient_stock',
      errors: [{ pointer: '/items', message: `${shortage.available} available` }],
    });
}

/** What payments has said. `null`: nothing had to be asked. */
type Outcome = { session: SessionAnswer | null; promoHeld: boolean; refusal: Problem | null };

function promoCaseFor({ userId, brandId, currency, promoCode }: Order, items: Awaited<ReturnType<typeof itemRows>>): PromoCase {
  const lines = items.map(({ variantId, quantity, unitPrice }) => ({ variantId, quantity, subtotal: unitPrice * quantity }));
  return { code: promoCode!, brandId, userId, currency, lines };
}

/** Refusals of payments that end a checkout; anything else leaves it open for a repeat. */
const ENDING = ['payment_declined', 'invalid_request', 'conflict', 'forbidden', 'not_found'];

/** Holds the promo, then has the order paid; outside transactions. @throws Problem unavailable; then the order waits. */
export async function payOrder(ctx: Context, id: string): Promise<Outcome> {
  const { order, items } = await ctx.host.read(async own => ({
    order: await findRow(own, Order, { id }),
    items: await itemRows(own, [id]),
  }));
  if (order?.status !== OrderStatus.PENDING_PAYMENT) return { session: null, promoHeld: order?.promoHeld ?? false, refusal: null };
  const port = paymentsOf(ctx.host);
  let promoHeld = order.promoHeld;
  try {
    if (order.promoCode !== null && !promoHeld) {
      const hold = await within(SILENCE_MS, port.reservePromo(id, promoCaseFor(order, items)));
      promoHeld = true;
      if (hold.discount !== order.discount) throw new Problem('conflict', 'The discount has changed', { reason: 'price_changed' });
    }
    const session = order.total === 0 ? null : await within(SILENCE_MS, port.createCheckout(toPay(order)));
    return { session, promoHeld, refusal: null };
  } catch (error) {
    if (!(error instanceof Problem) || !ENDING.includes(error.code)) throw error;
    return { session: null, promoHeld, refusal: error };
  }
}

/** A refusal as the buyer is told of it. */
function toldOf(refusal: Problem, orderId: string): Problem {
  const { declineCode, retryable } = refusal.options.members ?? {};
  if (refusal.code === 'payment_declined')
    return new Problem('payment_declined', 'The payment was declined', {
      members: { declineCode: declineCode ?? null, retryable: retryable ?? true, orderId },
    });
  if (refusal.options.reason === 'price_changed') return refusal;
  if (refusal.options.errors?.some(one => one.pointer === '/input/code'))
    return new Problem('conflict', 'The code does not apply any more', {
      reason: 'cart_blocked',
      errors: [{ pointer: '/promo_code', message: 'promo_rejected' }],
    });
  return new Problem('invalid_request', 'The payment was refused', {
    errors: [{ pointer: '/input/paymentMethodId', message: 'cannot be used' }],
  });
}

/** Transaction 2: what payments has said becomes the order's state. */
export async function recordOutcome(ctx: Context, order: Order, { session, promoHeld, refusal }: Outcome): Promise<Problem | null> {
  order.promoHeld ||= promoHeld;
  const known = refusal?.options.members?.checkoutSessionId ?? session?.id;
  if (typeof known === 'string') order.checkoutSessionId = known;
  if (refusal) {
    if (refusal.code === 'payment_declined') await declineOrder(ctx, order);
    else await expireOrder(ctx, order);
    return toldOf(refusal, order.id);
  }
  if (order.total === 0) await settleOrder(ctx, order, { amount: 0, currency: order.currency });
  else if (session?.settled) await settleOrder(ctx, order, session.settled);
  return null;
}

export const checkingOut = twoPhases({
  intend: (ctx, { input }: Asked) => openOrder(ctx, input),
  call: (ctx, { id }) => payOrder(ctx, id),
});

const shownSession = (session: SessionAnswer | null): CartCheckoutSession | null =>
  session && { id: session.id, status: session.status.toLowerCase(), url: session.url, nextAction: session.nextAction };

function statusOf(order: Order, session: SessionAnswer | null): CartCheckoutStatus {
  if (order.placedAt !== null) return CartCheckoutStatus.PLACED;
  return session?.status === 'PROCESSING' ? CartCheckoutStatus.PROCESSING : CartCheckoutStatus.REQUIRES_ACTION;
}

/** The answer of a checkout: what became of the order. A declined or lost one is a problem. */
export async function checkOut(ctx: Context): Promise<CartCheckout | Problem> {
  const { intent, outcome } = checkingOut.of(ctx);
  const order = await lockOrder(ctx, intent.id);
  const problem = await recordOutcome(ctx, order, outcome);
  if (problem) return problem;
  await ctx.em.flush();
  if (order.status === OrderStatus.CANCELLED)
    return new Problem('conflict', 'There is not enough in stock', { reason: 'insufficient_stock' });
  const cart = (await ctx.em.findOne(Cart, { id: order.cartId! }, { refresh: true }))!;
  const session =
    outcome.session ??
    (order.checkoutSessionId
      ? ({
          id: order.checkoutSessionId,
          status: order.placedAt ? 'COMPLETE' : 'OPEN',
          url: null,
          nextAction: null,
          settled: null,
        } as SessionAnswer)
      : null);
  return { status: statusOf(order, session), cart, order, checkoutSession: order.total === 0 ? null : shownSession(session) };
}
