import { get, post, type Route } from '../../route.js';

const MONEY = '{ amount currency }';
const ADDRESS = '{ line1 line2 city region postalCode countryCode }';
const ITEM = `id productId variantId sku title optionText quantity unitPrice ${MONEY} subtotal ${MONEY} discount ${MONEY} tax ${MONEY} total ${MONEY}
  lots { sku lotNumber expiresOn quantity } fulfilledQuantity cancelledQuantity returnedQuantity refundedQuantity`;
export const ORDER = `id number userId brandId cartId subscriptionId source channel externalId status paymentStatus fulfillmentStatus currency
  items { ${ITEM} } adjustments { kind promoCode amount ${MONEY} allocations { itemId amount ${MONEY} } } taxLines { jurisdiction name ratePpm amount ${MONEY} }
  totals { subtotal ${MONEY} discount ${MONEY} shipping ${MONEY} tax ${MONEY} total ${MONEY} refunded ${MONEY} }
  shippingAddress ${ADDRESS} billingAddress ${ADDRESS} recipientName phone shippingMethodCode affiliateCode
  fulfillments { id status provider carrier trackingNumber trackingUrl items { itemId quantity } externalRef createdAt }
  isOversold placedAt cancelledAt cancelReason createdAt version`;

const ERASURE = 'id userId status counts { carts orders subscriptions links } createdAt completedAt';
const CARD = `url kind title description imageUrl siteName product { id slug priceRange { min ${MONEY} max ${MONEY} } available }`;

export const orders: Route[] = [
  get('/v1/orders', 'orders', ORDER, 'List orders'),
  get('/v1/orders/{id}', 'order', ORDER, 'Read an order'),
  get('/v1/orders/by-number/{number}', 'orderByNumber', ORDER, 'Read an order by its number'),
  post('/v1/orders/{id}/cancel', 'cancelOrder', ORDER, 'Cancel an order', {
    problems: { 409: 'Something of it was shipped, or it is not placed' },
  }),
  post('/v1/orders/{id}/fulfillments', 'fulfillOrder', ORDER, 'Ship lines of an order', {
    problems: { 409: 'The lot must not be shipped, or less is left' },
  }),
  post('/v1/fulfillments/{id}/delivered', 'markFulfillmentDelivered', ORDER, 'Say that a parcel has arrived'),
  post('/v1/orders/{order_id}/returns', 'returnOrderItems', ORDER, 'Take units back', {
    problems: { 409: 'They were not shipped, or must not be sold again' },
  }),
  post('/v1/admin/erasure', 'requestCommerceErasure', ERASURE, 'Forget a user', { status: 202 }),
  get('/v1/admin/erasure/{id}', 'commerceErasure', ERASURE, 'Read an erasure'),
  get(
    '/v1/admin/reconciliation',
    'commerceReconciliation',
    'from to ordersChecked breaches { code orderId variantId detail }',
    'Compare orders, payments and stock',
  ),
  post('/v1/unfurl', 'unfurlLink', CARD, 'See what is behind an address', {
    problems: { 429: 'More than thirty in a minute', 503: 'It is no product of ours, and content is not available' },
    example: { request: { url: 'https://main.example/products/omega-3' } },
  }),
  post('/v1/admin/test-clock', 'setCommerceClock', 'now', "Move this service's manual clock (development and tests)"),
];
