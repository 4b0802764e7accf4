import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { Cart, type PersonalData } from '../entities/cart.js';
import { CartStatus } from '../entities/enums.js';
import type { CheckoutCartInput } from '../inputs/cart.js';
import { addressOf } from '../ports/addresses.js';
import { brandOf, type Brand } from '../ports/brands.js';
import { isEligible } from '../ports/eligibility.js';
import { cartLines, type Offered } from '../queries/cart-lines.js';
import { outsideFacts, personalOf, type OutsideFacts } from '../queries/priced-cart.js';
import { shopUrlFault } from '../rules/address.js';
import { addressFrom } from '../rules/personal.js';
import { reachCart } from './cart-access.js';
import { isRestricted } from './order-draft.js';
import { NOBODY } from './personal.js';
import { takeLimit } from './rate-limits.js';

/** What a checkout must know before its transaction. */
export interface CheckoutFacts {
  brand: Brand;
  outside: OutsideFacts;
  /** Where to, with what was given and what the cart had. */
  personal: PersonalData;
  /** Products that the buyer may not buy. */
  refused: ReadonlySet<string>;
}

/** The cart as this checkout wants it: its code, its way of shipping. */
export function wantedCart(cart: Cart, input: CheckoutCartInput, { shippingAddress }: PersonalData): Cart {
  const promoCode = input.promoCode === undefined ? cart.promoCode : (input.promoCode?.trim().toUpperCase() ?? null);
  const shippingMethodCode = input.shippingMethodCode === undefined ? cart.shippingMethodCode : input.shippingMethodCode;
  const country = shippingAddress?.countryCode ?? cart.country;
  return Object.assign(Object.create(cart) as Cart, { promoCode, shippingMethodCode, country });
}

async function personalFor(ctx: Context, cart: Cart, input: CheckoutCartInput): Promise<PersonalData> {
  const known = { ...NOBODY, ...personalOf(ctx, cart, 'cart') };
  if (input.addressId != null && cart.userId !== null) {
    const { address, recipientName, phone } = await addressOf(ctx, cart.userId, input.addressId);
    Object.assign(known, { shippingAddress: address, recipientName, phone });
  }
  if (input.shippingAddress) known.shippingAddress = addressFrom(input.shippingAddress);
  if (input.recipientName != null) known.recipientName = input.recipientName;
  if (input.phone != null) known.phone = input.phone;
  known.billingAddress = input.billingAddress ? addressFrom(input.billingAddress) : (known.billingAddress ?? known.shippingAddress);
  return known;
}

/** Source: commerce 7.25. @throws Problem invalid_request. */
export function requireShopUrls(ctx: Context, { hosts }: Brand, urls: Readonly<Record<string, string | null | undefined>>): void {
  const allowed = { hosts, production: ctx.host.config.production };
  const faults = Object.entries(urls).flatMap(([name, url]) => {
    const message = url == null ? null : shopUrlFault(url, allowed);
    return message === null ? [] : [{ pointer: `/input/${name}`, message }];
  });
  requireValid(faults);
}

/** Products of these lines that a user may not buy: what cannot be found out is refused. Source: commerce 7.22. */
export async function refusedProducts(ctx: Context, userId: string, lines: readonly Offered[]): Promise<Set<string>> {
  const restricted = new Map(lines.filter(isRestricted).map(line => [line.productId, line]));
  const asked = [...restricted.values()].map(async ({ productId, requirement: kind, entitlementKey, medicationCode }) =>
    (await isEligible(ctx.host, userId, { kind, entitlementKey, medicationCode })) ? [] : [productId],
  );
  return new Set((await Promise.all(asked)).flat());
}

/** @throws Problem not_found, conflict, invalid_request, rate_limited, unavailable. */
export const checkoutFacts = preparation(async (ctx: Context, { input }: { input: CheckoutCartInput }): Promise<CheckoutFacts> => {
  const cart = await reachCart(ctx, input.id, null);
  if (cart.userId === null) fail('conflict', 'A guest has to sign in first', { reason: 'sign_in_required' });
  takeLimit(ctx, 'checkouts', cart.userId);
  const brand = await brandOf(ctx.host, { id: cart.brandId });
  const { returnUrl, cancelUrl } = input;
  requireShopUrls(ctx, brand, { returnUrl, cancelUrl });
  if (cart.status !== CartStatus.ACTIVE) return { brand, outside: {}, personal: NOBODY, refused: new Set() };
  const personal = await personalFor(ctx, cart, input);
  const wanted = wantedCart(cart, input, personal);
  const lines = await cartLines(ctx, wanted);
  const [outside, refused] = await Promise.all([
    outsideFacts(ctx, wanted, personal, lines, true),
    refusedProducts(ctx, cart.userId, lines),
  ]);
  return { brand, outside, personal, refused };
});
