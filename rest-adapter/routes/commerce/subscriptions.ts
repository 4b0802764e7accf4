import { get, patch, post, type Route } from '../../route.js';

const MONEY = '{ amount currency }';
const ITEM = `id variant { id sku title } quantity unitPrice ${MONEY} discountBps pendingPrice { amount ${MONEY} effectiveOn }`;
const UPCOMING = `cycleIndex orderOn status items { variant { id sku title } quantity unitPrice ${MONEY} } estimatedTotal ${MONEY} attempts nextAttemptAt
  failureCode editableUntil`;
const SUBSCRIPTION = `id user { id } brandId currency status cadence { unit count } anchorDay timeZone nextOrderOn cycleIndex items { ${ITEM} }
  upcoming { ${UPCOMING} } paymentMethodId shippingAddress { line1 line2 city region postalCode countryCode } recipientName shippingMethodCode outOfStock
  pausedUntil cancelAfterCycle pastDueSince refillSuggested createdAt updatedAt version`;

const aVariant = '0190b3a0-0000-7000-8000-000000ce0001';
const address = { line1: '1 Main Street', city: 'Los Angeles', region: 'CA', postal_code: '90001', country_code: 'US' };
const ITS = '/v1/subscriptions/{id}';

export const subscriptions: Route[] = [
  post('/v1/subscriptions', 'createProductSubscription', SUBSCRIPTION, 'Begin a recurring order', {
    status: 201,
    problems: {
      403: 'Something of it may not be bought without more',
      404: 'There is no such payment method',
      409: 'It is not offered in this rhythm',
    },
    example: {
      request: {
        items: [{ variant_id: aVariant, quantity: 1 }],
        cadence: { unit: 'month', count: 1 },
        payment_method_id: '0190b3a0-1111-7000-8000-0000000c0001',
        shipping_address: address,
        recipient_name: 'A Buyer',
      },
    },
  }),
  get(ITS, 'productSubscription', SUBSCRIPTION, 'Read a recurring order'),
  get('/v1/subscriptions/customer/{customerId}', 'productSubscriptions', SUBSCRIPTION, 'List the recurring orders of a user', {
    path: { customerId: 'userId' },
  }),
  patch(ITS, 'updateProductSubscription', SUBSCRIPTION, 'Change method, address or way of shipping', {
    problems: { 409: 'It is over, or was changed meanwhile' },
  }),
  post(`${ITS}/cadence`, 'changeProductSubscriptionCadence', SUBSCRIPTION, 'Change how often orders come', {
    problems: { 409: 'It is not offered in this rhythm, or it is too late for the next order' },
    example: { request: { cadence: { unit: 'month', count: 2 } } },
  }),
  post(`${ITS}/cancel`, 'cancelProductSubscription', SUBSCRIPTION, 'End a recurring order', {
    problems: { 409: 'It has ended already' },
    example: { request: { reason: 'too_much_product' } },
  }),
  post(`${ITS}/pause`, 'pauseProductSubscription', SUBSCRIPTION, 'Let a recurring order rest', { problems: { 409: 'It is not active' } }),
  post(`${ITS}/resume`, 'resumeProductSubscription', SUBSCRIPTION, 'Go on with a recurring order', {
    problems: { 409: 'It is not paused' },
  }),
  post(`${ITS}/skip`, 'skipScheduledOrder', `${SUBSCRIPTION} skipped { cycleIndex orderOn }`, 'Leave an order out', {
    problems: { 409: 'It was left out already, or it is too late' },
  }),
  post(`${ITS}/unskip`, 'unskipScheduledOrder', SUBSCRIPTION, 'Take a skip back', {
    problems: { 409: 'It was not left out, or it is too late' },
    example: { request: { cycle_index: 1 } },
  }),
  post(`${ITS}/swap`, 'swapProductSubscriptionItem', SUBSCRIPTION, 'Have another variant', {
    problems: { 409: 'It is not offered in this rhythm, not in stock, or it is too late' },
    example: { request: { from_variant_id: aVariant, to_variant_id: aVariant, apply_to: 'next_only' } },
  }),
  post(`${ITS}/order-now`, 'orderNow', SUBSCRIPTION, 'Order now what would come next', { problems: { 409: 'It is not active' } }),
  post('/v1/admin/subscriptions/{id}/price-changes', 'scheduleSubscriptionPriceChange', SUBSCRIPTION, 'Announce another price', {
    example: { request: { item_id: aVariant, amount: { amount: 2_499, currency: 'USD' }, effective_on: '2027-01-31' } },
  }),
];
