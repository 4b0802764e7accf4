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
  post('/v1/admin/test-clock', 'setCommerceClock', 'now', "Move this service's manual clock (development and tests)"),
];
