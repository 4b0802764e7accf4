import { del, get, patch, post, type Route } from '../../route.js';

const MONEY = '{ amount currency }';
const PROBLEM = 'code itemId blocking message expected actual';
const ITEM = `id product { id slug title } variant { id sku title } quantity unitPrice ${MONEY} compareAt ${MONEY} unitPriceWhenAdded ${MONEY}
  subtotal ${MONEY} discount ${MONEY} tax ${MONEY} total ${MONEY} cadence { unit count } reserved problems { ${PROBLEM} }`;
const TOTALS = `totals { subtotal ${MONEY} discount ${MONEY} shipping ${MONEY} tax ${MONEY} total ${MONEY} taxIncluded estimated }`;
const CART = `id userId brandId currency country locale status items { ${ITEM} } promoCode affiliateCode shippingMethodCode
  shippingOptions { code name amount ${MONEY} minDays maxDays } ${TOTALS} problems { ${PROBLEM} } reservedUntil expiresAt version`;
const ORDER = `id number status paymentStatus totals { subtotal ${MONEY} discount ${MONEY} shipping ${MONEY} tax ${MONEY} total ${MONEY} }`;
const SESSION = 'id status url nextAction { type url expiresAt }';

const aVariant = '0190b3a0-0000-7000-8000-000000ce0001';

export const carts: Route[] = [
  post('/v1/carts', 'createCart', `id cart { ${CART} } guestToken merged`, 'Make, find or merge a cart', {
    status: [201, 200],
    problems: {
      404: 'There is no such guest cart, or its token is another one',
      409: 'There is not enough in stock',
      429: 'Too many carts',
    },
    example: { request: { items: [{ variant_id: aVariant, quantity: 2 }] } },
  }),
  get('/v1/carts/{id}', 'cart', CART, 'Read a cart', { omit: ['guestToken'] }),
  patch('/v1/carts/{id}', 'updateCart', CART, 'Set promo, addresses and way of shipping', {
    omit: ['guestToken'],
    problems: { 409: 'It is not open, or was changed meanwhile' },
  }),
  post('/v1/carts/{id}/items', 'setCartItem', CART, 'Add to a line, or set it', {
    omit: ['guestToken'],
    problems: { 409: 'There is not enough in stock, more than one may have, or the cart is not open' },
    example: { request: { variant_id: aVariant, quantity: 1 } },
  }),
  del('/v1/carts/{id}/items/{item_id}', 'removeCartItem', 'id', 'Remove a line', { omit: ['guestToken', 'expectedVersion'] }),
  post('/v1/carts/{id}/clear', 'clearCart', CART, 'Remove all lines', { omit: ['guestToken'] }),
  post(
    '/v1/carts/{id}/checkout',
    'checkoutCart',
    `status cart { id status } order { ${ORDER} } checkoutSession { ${SESSION} }`,
    'Order what is in a cart and have it paid',
    {
      problems: {
        402: 'The payment was declined; the cart is open again',
        409: 'The cart is empty, blocked, changed, or costs something else',
        503: 'Payments or taxes are silent; a repeat continues',
      },
      example: {
        request: {
          shipping_address: { line1: '1 Main Street', city: 'Los Angeles', region: 'CA', postal_code: '90001', country_code: 'US' },
          recipient_name: 'A Buyer',
          expected_total: { amount: 10_825, currency: 'USD' },
        },
      },
    },
  ),
  post(
    '/v1/promo-codes/validate',
    'validateCartPromo',
    `valid code reason kind discount ${MONEY} allocations { variantId amount ${MONEY} } newTotal ${MONEY}`,
    'See what a code would do',
    {
      omit: ['guestToken'],
      problems: { 429: 'Ten refusals in a minute' },
      example: { request: { code: 'SAVE10', items: [{ variant_id: aVariant }] } },
    },
  ),
];
