import { newId } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { after, DAY_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { Cart } from '../entities/cart.js';
import { CartItemMode, CartStatus } from '../entities/enums.js';
import type { CartLineInput, ClearCartInput, RemoveCartItemInput, SetCartItemInput, UpdateCartInput } from '../inputs/cart.js';
import { cartLines, offeredVariants, type CartLine, type Offered } from '../queries/cart-lines.js';
import { keepPriced, outsideFacts, personalOf, priceCart, unitPriceOf, type OutsideFacts } from '../queries/priced-cart.js';
import { demandOf } from '../queries/stock.js';
import { cadenceKey } from '../rules/cadence.js';
import { addressFrom } from '../rules/personal.js';
import { findCart, openCart } from './cart-access.js';
import { NOBODY, sealPersonal } from './personal.js';
import { lockDemand, release, reserve } from './stock.js';

export const CART_DAYS = 30;
const HOLD_MS = 15 * MINUTE_MS;
const MOST_HOLD_MS = 60 * MINUTE_MS;
const MOST_LINES = 100;

/** A change of a cart: version, end of its life; what a merge has left to say is read. */
export function touch(ctx: Context, cart: Cart): void {
  Object.assign(cart, { updatedAt: ctx.now(), expiresAt: after(ctx.now(), CART_DAYS * DAY_MS), notes: [] });
  cart.version += 1;
}

/** A line's own row. */
export interface Line {
  id: string;
  variantId: string;
  quantity: number;
  cadence: string;
  reservedSince: Date | null;
}

const ROWS = `select id, variant_id as "variantId", quantity, cadence, (extract(epoch from reserved_since) * 1000)::float8 as since
from commerce.cart_item where cart_id = $1 order by created_at, id`;

export async function linesOf(ctx: Context, cartId: string): Promise<Line[]> {
  const rows = await ctx.sql<Omit<Line, 'reservedSince'> & { since: number | null }>(ROWS, [cartId]);
  return rows.map(({ since, ...line }) => ({ ...line, reservedSince: since === null ? null : new Date(since) }));
}

const WRITE = `
insert into commerce.cart_item (id, cart_id, variant_id, quantity, cadence, unit_price_when_added, reserved_since, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (cart_id, variant_id, cadence) do update set quantity = excluded.quantity, reserved_since = excluded.reserved_since, lost_cover = false`;

export async function writeLine(ctx: Context, cart: Cart, line: Line, unitPrice: number): Promise<void> {
  const since = line.reservedSince?.toISOString() ?? null;
  await ctx.sql(WRITE, [line.id, cart.id, line.variantId, line.quantity, line.cadence, unitPrice, since, ctx.now().toISOString()]);
}

/** Removes a line with what it holds. */
export async function dropLine(ctx: Context, lineId: string): Promise<void> {
  await release(ctx, 'cart_item_id', [lineId]);
  await ctx.sql('delete from commerce.cart_item where id = $1', [lineId]);
}

/** Until when a line's units are held: 15 minutes from its last change, 60 in a row at most. Source: commerce 7.9. */
function heldUntil(ctx: Context, since: Date): Date {
  return new Date(Math.min(after(ctx.now(), HOLD_MS).getTime(), after(since, MOST_HOLD_MS).getTime()));
}

/** The start of the hold that a line has now; a hold that has ended begins anew. */
async function holdingSince(ctx: Context, line: Line): Promise<Date> {
  const [held] = await ctx.sql('select 1 from commerce.stock_reservation where cart_item_id = $1 and expires_at > $2 limit 1', [
    line.id,
    ctx.now().toISOString(),
  ]);
  return held && line.reservedSince ? line.reservedSince : ctx.now();
}

/** Holds the units of a line. @returns what could be had instead where it is not enough; null: it is held. */
export async function holdLine(ctx: Context, cart: Cart, line: Line): Promise<number | null> {
  line.reservedSince = await holdingSince(ctx, line);
  const [demand] = await demandOf(ctx, [line]);
  const holder = { kind: 'cart', cartId: cart.id, cartItemId: line.id } as const;
  const shortage = await reserve(ctx, holder, demand!, heldUntil(ctx, line.reservedSince));
  if (!shortage) return null;
  const perUnit = shortage.wanted / line.quantity;
  return Math.floor(shortage.available / perUnit);
}

const refuse = (reason: string, detail: string, message?: string): never =>
  fail('conflict', detail, { reason, ...(message !== undefined && { errors: [{ pointer: '/quantity', message }] }) });

/** What a unit costs. @throws Problem conflict. */
function requireSellable(offered: Offered, cadence: string, ofVariant: number): number {
  const unit = unitPriceOf({ ...offered, cadence });
  if (unit === null) return refuse('not_sold_here', 'It is not sold here');
  if (ofVariant > offered.maxPerOrder) refuse('over_max_quantity', 'More than one may have', `at most ${offered.maxPerOrder}`);
  return unit;
}

/** The variant that is meant, as it is sold. @throws Problem not_found. */
export async function offeredFor(ctx: Context, cart: Cart, wanted: { variantId?: string | null; sku?: string | null }): Promise<Offered> {
  const id =
    wanted.variantId?.toLowerCase() ??
    (await ctx.sql<{ id: string }>('select id from commerce.product_variant where sku = $1', [wanted.sku]))[0]?.id;
  const offered = id === undefined ? undefined : (await offeredVariants(ctx, [id], cart)).get(id);
  if (!offered || offered.brandId !== cart.brandId || offered.status === 'draft') return fail('not_found', 'No such variant');
  return offered;
}

/** Sets a line to a quantity, held at once. @throws Problem conflict; then nothing has changed. */
export async function setLine(ctx: Context, cart: Cart, offered: Offered, cadence: string, quantity: number): Promise<void> {
  const lines = await linesOf(ctx, cart.id);
  const known = lines.find(one => one.variantId === offered.variantId && one.cadence === cadence);
  if (quantity === 0) return known ? dropLine(ctx, known.id) : undefined;
  const others = lines.filter(one => one.variantId === offered.variantId && one !== known).reduce((sum, one) => sum + one.quantity, 0);
  const unit = requireSellable(offered, cadence, others + quantity);
  if (!known && lines.length >= MOST_LINES) refuse('too_many_items', 'The cart is full');
  if (quantity > 999) refuse('over_max_quantity', 'More than one may have', 'at most 999');
  const line = { ...(known ?? { id: newId(), variantId: offered.variantId, cadence, reservedSince: null }), quantity };
  const available = await holdLine(ctx, cart, line);
  if (available !== null) refuse('insufficient_stock', 'There is not enough in stock', `${available} available`);
  await writeLine(ctx, cart, line, unit);
}

/** Adds what a new cart begins with. */
export async function addItems(ctx: Context, cart: Cart, items: readonly CartLineInput[]): Promise<void> {
  await lockDemand(ctx, items); // of all together: two who want the same things in another order wait for each other
  for (const { variantId, quantity } of items) {
    const offered = await offeredFor(ctx, cart, { variantId });
    const known = (await linesOf(ctx, cart.id)).find(one => one.variantId === offered.variantId && one.cadence === '');
    await setLine(ctx, cart, offered, '', (known?.quantity ?? 0) + quantity);
  }
}

/** Shows a cart priced inside the transaction, with what was asked of others before it. */
export async function shown(ctx: Context, cart: Cart, facts: OutsideFacts): Promise<Cart> {
  await ctx.em.flush();
  const lines = await cartLines(ctx, cart);
  keepPriced(cart, await priceCart(ctx, cart, personalOf(ctx, cart, 'cart'), lines, facts)); // its reads belong to the transaction, which may end next
  return cart;
}

/** Lines as they will be after a change, for the promo that is asked about before it. */
type Change = (lines: CartLine[], ctx: Context, cart: Cart) => Promise<CartLine[]> | CartLine[];

async function factsAfter(
  ctx: Context,
  id: string,
  token: string | null | undefined,
  change: Change,
  code?: string | null,
): Promise<OutsideFacts> {
  const cart = await findCart(ctx, id, token);
  const promoCode = code === undefined ? cart?.promoCode : code;
  if (!cart || promoCode == null) return {};
  const lines = await change(await cartLines(ctx, cart), ctx, cart);
  const asked = Object.assign(Object.create(cart) as Cart, { promoCode });
  return outsideFacts(ctx, asked, personalOf(ctx, cart, 'cart'), lines, false);
}

/** What is asked of payments before a line changes: the code with the lines to be. */
export const itemFacts = preparation((ctx: Context, { input }: { input: SetCartItemInput }) =>
  factsAfter(ctx, input.id, input.guestToken, async (lines, _ctx, cart) => {
    const offered = await offeredFor(ctx, cart, input).catch(() => null);
    const cadence = cadenceKey(input.cadence);
    if (!offered) return lines;
    const known = lines.find(one => one.variantId === offered.variantId && one.cadence === cadence);
    const quantity = input.quantity + (input.mode === CartItemMode.ADD ? (known?.quantity ?? 0) : 0);
    if (!known)
      return [
        ...lines,
        {
          ...offered,
          id: '',
          quantity,
          cadence,
          unitPriceWhenAdded: 0,
          lostCover: false,
          reserved: 0,
          reservedUntil: null,
          takeable: Infinity,
        },
      ];
    return lines.flatMap(one => (one !== known ? [one] : quantity === 0 ? [] : [{ ...one, quantity }]));
  }),
);

/** @throws Problem invalid_request, not_found, conflict. */
export async function setCartItem(ctx: Context, input: SetCartItemInput): Promise<Cart> {
  if ((input.variantId == null) === (input.sku == null)) invalid('/input/variantId', 'exactly one of variantId and sku is required');
  if (input.mode === CartItemMode.ADD && input.quantity === 0) invalid('/input/quantity', 'must be at least 1');
  const cart = await openCart(ctx, input.id, input.guestToken, input.expectedVersion);
  const offered = await offeredFor(ctx, cart, input);
  const cadence = cadenceKey(input.cadence);
  const known = (await linesOf(ctx, cart.id)).find(one => one.variantId === offered.variantId && one.cadence === cadence);
  const before = input.mode === CartItemMode.ADD ? (known?.quantity ?? 0) : 0;
  await setLine(ctx, cart, offered, cadence, before + input.quantity);
  touch(ctx, cart);
  return shown(ctx, cart, itemFacts.of(ctx));
}

export const removalFacts = preparation((ctx: Context, { input }: { input: RemoveCartItemInput }) =>
  factsAfter(ctx, input.id, input.guestToken, lines => lines.filter(one => one.id !== input.itemId.toLowerCase())),
);

/** @throws Problem not_found, conflict. */
export async function removeCartItem(ctx: Context, input: RemoveCartItemInput): Promise<Cart> {
  const cart = await openCart(ctx, input.id, input.guestToken, input.expectedVersion);
  const line = (await linesOf(ctx, cart.id)).find(one => one.id === input.itemId.toLowerCase()) ?? fail('not_found', 'No such line');
  await dropLine(ctx, line.id);
  touch(ctx, cart);
  return shown(ctx, cart, removalFacts.of(ctx));
}

export async function clearCart(ctx: Context, input: ClearCartInput): Promise<Cart> {
  const cart = await openCart(ctx, input.id, input.guestToken);
  await release(ctx, 'cart_id', [cart.id]);
  await ctx.sql('delete from commerce.cart_item where cart_id = $1', [cart.id]);
  touch(ctx, cart);
  return shown(ctx, cart, {});
}

export const updateFacts = preparation((ctx: Context, { input }: { input: UpdateCartInput }) =>
  factsAfter(ctx, input.id, input.guestToken, lines => lines, input.promoCode),
);

/** What is given takes the place of what was; null removes it. */
export async function updateCart(ctx: Context, input: UpdateCartInput): Promise<Cart> {
  const cart = await openCart(ctx, input.id, input.guestToken, input.expectedVersion);
  if (input.country === null) requireValid([{ pointer: '/input/country', message: 'is required' }]);
  const plain = {
    promoCode: input.promoCode?.trim().toUpperCase(),
    affiliateCode: input.affiliateCode,
    shippingMethodCode: input.shippingMethodCode,
    country: input.country,
  };
  const given = Object.entries(plain).filter(([name]) => input[name as keyof UpdateCartInput] !== undefined);
  Object.assign(cart, Object.fromEntries(given.map(([name, value]) => [name, value ?? null])));
  const { shippingAddress, billingAddress, recipientName, phone } = input;
  const personal = { ...NOBODY, ...personalOf(ctx, cart, 'cart') };
  if (shippingAddress !== undefined) personal.shippingAddress = shippingAddress && addressFrom(shippingAddress);
  if (billingAddress !== undefined) personal.billingAddress = billingAddress && addressFrom(billingAddress);
  if (recipientName !== undefined) personal.recipientName = recipientName;
  if (phone !== undefined) personal.phone = phone;
  if (shippingAddress && input.country === undefined) cart.country = shippingAddress.countryCode;
  cart.personal = sealPersonal(ctx, personal, 'cart', cart.id);
  touch(ctx, cart);
  return shown(ctx, cart, updateFacts.of(ctx));
}

/** Locked in the order of their ids, as whoever locks several carts does. */
const EXPIRE = `
with over as (select id from commerce.cart where status = 'active' and expires_at <= $1 order by id for no key update)
update commerce.cart set status = 'expired', personal = null, version = version + 1, updated_at = $1 from over where cart.id = over.id returning cart.id`;

/** Carts whose time is over: what they hold and whom they name goes. */
export async function expireCarts(ctx: Context, at: Date): Promise<void> {
  const gone = await ctx.sql<{ id: string }>(EXPIRE, [at.toISOString()]);
  await release(
    ctx,
    'cart_id',
    gone.map(one => one.id),
  );
}

/** Locks the cart of an order that will not be, then the stock of its lines. */
export async function lockCartOf(ctx: Context, cartId: string): Promise<void> {
  await ctx.sql('select 1 from commerce.cart where id = $1 for no key update', [cartId]);
  await lockDemand(ctx, await linesOf(ctx, cartId));
}

/** Reopens the cart of an order that will not be, whose stock is locked: reservations come back where stock allows, lines stay. Source: commerce 3. */
export async function reopenCart(ctx: Context, cartId: string): Promise<void> {
  await ctx.em.flush();
  const cart = await ctx.em.findOne(Cart, { id: cartId }, { refresh: true });
  if (!cart || cart.status !== CartStatus.CHECKING_OUT) return;
  const other =
    cart.userId &&
    (await ctx.em.findOne(Cart, { userId: cart.userId, brandId: cart.brandId, currency: cart.currency, status: CartStatus.ACTIVE }));
  if (other) {
    // the buyer has begun another one meanwhile, and one may be open only
    Object.assign(cart, { status: CartStatus.ABANDONED, personal: null, updatedAt: ctx.now() });
    return;
  }
  Object.assign(cart, { status: CartStatus.ACTIVE, orderId: null });
  touch(ctx, cart);
  await ctx.em.flush();
  for (const line of await linesOf(ctx, cart.id)) {
    const available = await holdLine(ctx, cart, { ...line, reservedSince: null });
    await ctx.sql('update commerce.cart_item set lost_cover = $2, reserved_since = $3 where id = $1', [
      line.id,
      available !== null,
      ctx.now().toISOString(),
    ]);
  }
}
