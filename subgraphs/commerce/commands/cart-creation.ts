import { cartMerged } from '../../../events/catalogue/commerce.js';
import { newId } from '../../../runtime/data/ids.js';
import { findRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { sha256 } from '../../../runtime/data/crypto.js';
import { Cart, type CartCreation, type CartNote } from '../entities/cart.js';
import { CartProblemCode, CartStatus } from '../entities/enums.js';
import type { CreateCartInput } from '../inputs/cart.js';
import { brandOf, type Brand } from '../ports/brands.js';
import { offeredVariants } from '../queries/cart-lines.js';
import { personalOf, unitPriceOf } from '../queries/priced-cart.js';
import { addItems, CART_DAYS, dropLine, holdLine, linesOf, shown, touch, writeLine, type Line } from './cart.js';
import { isCommerce, newGuestToken } from './cart-access.js';
import { sealPersonal } from './personal.js';
import { callerKey, takeLimit } from './rate-limits.js';
import { drop, lockDemand } from './stock.js';

type Asked = { input: CreateCartInput };

/** The brand of a new cart. @throws Problem not_found, rate_limited, unavailable. */
export const cartBrand = preparation((ctx: Context, { input }: Asked): Promise<Brand> => {
  takeLimit(ctx, 'carts', callerKey(ctx));
  return brandOf(ctx.host, { id: input.brandId, fallbackId: ctx.caller.brandId });
});

function draft(ctx: Context, input: CreateCartInput, brand: Brand, userId: string | null): Cart {
  const currency = input.currency ?? brand.defaultCurrency;
  if (!brand.currencies.includes(currency)) invalid('/input/currency', 'is none of the brand');
  return Object.assign(new Cart(), {
    userId,
    brandId: brand.id,
    currency,
    country: input.country ?? brand.countries[0] ?? 'US',
    locale: input.locale ?? brand.defaultLocale,
    affiliateCode: input.affiliateCode ?? null,
    createdAt: ctx.now(),
    updatedAt: ctx.now(),
    expiresAt: after(ctx.now(), CART_DAYS * DAY_MS),
  });
}

async function guestCart(ctx: Context, input: CreateCartInput, brand: Brand): Promise<CartCreation> {
  const { token, hash } = newGuestToken();
  const cart = Object.assign(draft(ctx, input, brand, null), { guestTokenHash: hash });
  await ctx.em.persist(cart).flush();
  await addItems(ctx, cart, input.items ?? []);
  return { id: cart.id, cart: await shown(ctx, cart, {}), guestToken: token, merged: false };
}

/** The open cart of a user, or a new one. One may be open for each brand and currency: a lock keeps two requests from making two. */
async function userCart(ctx: Context, input: CreateCartInput, brand: Brand, userId: string): Promise<{ cart: Cart; isNew: boolean }> {
  const made = draft(ctx, input, brand, userId);
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 43))', [`${userId}:${brand.id}:${made.currency}`]);
  const { currency } = made;
  const known = await findRow(ctx, Cart, { userId, brandId: brand.id, currency, status: CartStatus.ACTIVE });
  if (known && known.expiresAt > ctx.now()) return { cart: await lockRow(ctx, Cart, { id: known.id }), isNew: false };
  if (known) Object.assign(known, { status: CartStatus.EXPIRED, personal: null });
  await ctx.em.flush();
  await ctx.em.persist(made).flush();
  return { cart: made, isNew: true };
}

/** @throws Problem invalid_request, not_found, conflict. */
export async function createCart(ctx: Context, input: CreateCartInput): Promise<CartCreation> {
  const brand = cartBrand.of(ctx);
  const userId = isCommerce(ctx) ? (input.userId?.toLowerCase() ?? null) : ctx.subject(input.userId).toLowerCase();
  if ((input.guestCartId == null) !== (input.guestToken == null))
    invalid('/input/guestToken', 'guestCartId and guestToken belong together');
  if (userId === null) return guestCart(ctx, input, brand);
  const guest = input.guestCartId == null ? null : await guestOf(ctx, input.guestCartId, input.guestToken!);
  const { cart, isNew } = await userCart(ctx, { ...input, currency: input.currency ?? guest?.currency }, brand, userId);
  if (!isNew) ctx.status(200);
  const merged = guest !== null && (await merge(ctx, cart, guest));
  await addItems(ctx, cart, input.items ?? []);
  if (input.items?.length && !merged) touch(ctx, cart);
  if (input.affiliateCode != null) cart.affiliateCode = input.affiliateCode;
  return { id: cart.id, cart: await shown(ctx, cart, {}), guestToken: null, merged };
}

/** The guest cart of a token. @throws Problem not_found. */
async function guestOf(ctx: Context, id: string, token: string): Promise<Cart> {
  const found = await findRow(ctx, Cart, { id: id.toLowerCase(), userId: null, guestTokenHash: sha256(token) });
  return found ?? fail('not_found', 'No such cart');
}

interface Counts {
  moved: number;
  summed: number;
  capped: number;
  dropped: number;
}

const note = (code: CartProblemCode, itemId: string | null, message: string): CartNote => ({ code, itemId, message });

/** As much of a line as one may have and as stock allows. */
async function settle(ctx: Context, cart: Cart, line: Line, unitPrice: number, most: number, counts: Counts): Promise<CartNote[]> {
  const notes: CartNote[] = [];
  const wanted = line.quantity;
  line.quantity = Math.min(wanted, most);
  if (line.quantity < wanted) notes.push(note(CartProblemCode.OVER_MAX_QUANTITY, line.id, `${wanted} were wanted, ${most} is the most`));
  let available = line.quantity > 0 ? await holdLine(ctx, cart, line) : 0;
  if (available !== null) {
    line.quantity = Math.min(line.quantity, available);
    notes.push(note(CartProblemCode.INSUFFICIENT_STOCK, line.id, `${available} available`));
    if (line.quantity > 0) available = await holdLine(ctx, cart, line);
  }
  if (notes.length > 0) counts.capped += 1;
  if (line.quantity > 0) await writeLine(ctx, cart, line, unitPrice);
  else await dropLine(ctx, line.id);
  return notes;
}

/**
 * Puts a guest cart into the cart of a user: the same variant and cadence sum, other lines move, each cap and each drop is told. Both
 * are locked in the order of their ids. @returns false for one that is in it already. Source: commerce 7.13.
 */
async function merge(ctx: Context, cart: Cart, guest: Cart): Promise<boolean> {
  for (const id of [cart.id, guest.id].sort()) await lockRow(ctx, Cart, { id });
  if (guest.status !== CartStatus.ACTIVE || guest.brandId !== cart.brandId || guest.expiresAt <= ctx.now()) return false;
  const [theirs, own] = [await linesOf(ctx, guest.id), await linesOf(ctx, cart.id)];
  await lockDemand(ctx, [...theirs, ...own]);
  await drop(ctx, 'cart_id', [guest.id]);
  const offered = await offeredVariants(
    ctx,
    theirs.map(one => one.variantId),
    cart,
  );
  const counts: Counts = { moved: 0, summed: 0, capped: 0, dropped: 0 };
  const notes: CartNote[] = [];
  for (const line of theirs) {
    const sale = offered.get(line.variantId);
    const unit = sale ? unitPriceOf({ ...sale, cadence: line.cadence }) : null;
    const known = own.find(one => one.variantId === line.variantId && one.cadence === line.cadence);
    if (!sale || unit === null || (!known && own.length + counts.moved >= 100)) {
      counts.dropped += 1;
      notes.push(note(CartProblemCode.UNAVAILABLE, null, 'A line is not sold in this cart'));
      continue;
    }
    const others = own.filter(one => one.variantId === line.variantId && one !== known).reduce((sum, one) => sum + one.quantity, 0);
    if (known) counts.summed += 1;
    else counts.moved += 1;
    const target: Line = known ? { ...known, quantity: known.quantity + line.quantity } : { ...line, id: newId(), reservedSince: null };
    notes.push(...(await settle(ctx, cart, target, unit, Math.max(0, sale.maxPerOrder - others), counts)));
  }
  await ctx.sql('delete from commerce.cart_item where cart_id = $1', [guest.id]);
  takeOver(ctx, cart, guest);
  touch(ctx, cart);
  cart.notes = notes;
  emitMerged(ctx, cart, guest, counts);
  return true;
}

/** The user's promo wins; a guest's stays where the user has none. */
function takeOver(ctx: Context, cart: Cart, guest: Cart): void {
  cart.promoCode ??= guest.promoCode;
  cart.affiliateCode ??= guest.affiliateCode;
  if (cart.personal === null) cart.personal = sealPersonal(ctx, personalOf(ctx, guest, 'cart'), 'cart', cart.id);
  Object.assign(guest, { status: CartStatus.MERGED, personal: null, updatedAt: ctx.now(), version: guest.version + 1 });
}

function emitMerged(ctx: Context, cart: Cart, guest: Cart, { moved, summed, capped, dropped }: Counts): void {
  const counts = { items_moved: moved, items_summed: summed, items_capped: capped, items_dropped: dropped };
  ctx.emit(
    cartMerged,
    { cart_id: cart.id, guest_cart_id: guest.id, brand_id: cart.brandId, ...counts },
    { userId: cart.userId, brandId: cart.brandId },
  );
  ctx.audit('cart.merged', cart.id, { guest_cart_id: guest.id, ...counts });
}
