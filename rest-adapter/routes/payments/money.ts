import { del, get, patch, post, type Route } from '../../route.js';

const PRICE = `id key subjectKind subjectId tier brand { id } unitAmount { amount currency } recurring { interval intervalCount } trialDays
  taxInclusive active createdAt`;

const prices: Route[] = [
  get('/v1/admin/prices', 'billingPrices', PRICE, 'List prices'),
  post('/v1/admin/prices', 'createBillingPrice', PRICE, 'Make a price', {
    status: 201,
    problems: { 409: 'The brand has a price with this key' },
    example: {
      request: {
        key: 'plus-monthly',
        subject_kind: 'membership_plan',
        subject_id: '0190b3a0-0000-7000-8000-0000000000e1',
        tier: 'plus',
        brand_id: '0190b3a0-0000-7000-8000-000000000001',
        unit_amount: { amount: 9900, currency: 'USD' },
        recurring: { interval: 'month', interval_count: 1 },
      },
    },
  }),
  patch('/v1/admin/prices/{id}', 'updateBillingPrice', PRICE, 'Take a price out of the shop, or back in, or change its trial'),
];

const MONEY = 'amount currency';
const METHOD = `id type status isDefault card { brand last4 expMonth expYear funding country wallet } bankLast4
  billingAddress { line1 line2 city region postalCode countryCode } createdAt`;
const NEXT = 'nextAction { type url expiresAt }';
const ERROR = 'lastError { code declineCode category message retryable }';
const SESSION = `id status mode url clientSecret amounts { subtotal { ${MONEY} } discount { ${MONEY} } tax { ${MONEY} } shipping { ${MONEY} }
  cashApplied { ${MONEY} } creditApplied { ${MONEY} } total { ${MONEY} } } payment { id status amount { ${MONEY} } } subscription { id status }
  orderId ${NEXT} ${ERROR} expiresAt createdAt`;
const PAYMENT = `id user { id } customer { id } purpose status amount { ${MONEY} } amountCaptured { ${MONEY} } amountRefunded { ${MONEY} }
  amountDisputed { ${MONEY} } amountRefundable { ${MONEY} } fee { ${MONEY} } processor processorPaymentId paymentMethod { id } methodSummary
  invoice { id } orderId checkoutSessionId externalRef ${NEXT} ${ERROR} statementDescriptor metadata capturedAt createdAt version`;

const aPrice = '0190b3a0-0000-7000-8000-0000000000f1';
const DECLINED = { 402: 'The payment was declined; `decline_code` says why' };
const ALIAS = 'Another path of GET /v1/billing/payment-methods';

const methods: Route[] = [
  get('/v1/billing/payment-methods', 'userPaymentMethods', METHOD, 'What a user can pay with'),
  get('/v1/payment-methods', 'userPaymentMethods', METHOD, ALIAS, { as: 'paymentMethods' }),
  get('/v1/payments/methods/{customer_id}', 'customerPaymentMethods', METHOD, 'What a customer can pay with'),
  post('/v1/billing/payment-methods', 'attachPaymentMethod', METHOD, 'Attach a card or account', {
    status: [201, 200],
    problems: DECLINED,
    example: { request: { token: 'pm_card_visa', default: true } },
  }),
  del('/v1/billing/payment-methods/{id}', 'detachPaymentMethod', 'id', 'Take a method away', {
    problems: { 409: 'It is the last one of a live subscription' },
  }),
  post('/v1/billing/payment-methods/{id}/default', 'setDefaultPaymentMethod', METHOD, 'Make a method the default'),
];

const checkout: Route[] = [
  post('/v1/checkout', 'createCheckout', SESSION, 'Buy', {
    status: [201, 200],
    problems: { ...DECLINED, 409: 'The method was detached, or a membership exists' },
    example: { request: { mode: 'payment', items: [{ price_id: aPrice, quantity: 1 }], payment_method_token: 'pm_card_visa' } },
  }),
  get('/v1/checkout/{id}', 'checkoutSession', SESSION, 'Read a checkout session'),
  post('/v1/checkout/{id}/confirm', 'confirmCheckout', SESSION, 'Charge a checkout session, for example with another method', {
    problems: { ...DECLINED, 409: 'It is not open, or an attempt is not decided yet' },
    example: { request: { payment_method_token: 'pm_card_visa' } },
  }),
  post('/v1/checkout/{id}/cancel', 'cancelCheckout', SESSION, 'Give a checkout session up', { problems: { 409: 'It is complete' } }),
];

const payments: Route[] = [
  get('/v1/payments', 'payments', PAYMENT, 'List payments'),
  get('/v1/payments/{id}', 'payment', PAYMENT, 'Read a payment'),
  post('/v1/payments/{id}/capture', 'capturePayment', PAYMENT, 'Take what is authorized', {
    problems: { 409: 'It is not authorized' },
    example: { request: {} },
  }),
  post('/v1/payments/{id}/cancel', 'cancelPayment', PAYMENT, 'Give a payment up', { problems: { 409: 'It is captured' } }),
];

const REFUND = `id payment { id } checkoutSessionId amount { ${MONEY} } cashReturned { ${MONEY} } creditReturned { ${MONEY} } status reason origin
  note toCash failureCode requestedBy approvedBy createdAt settledAt`;
const aPayment = '0190b3a0-0000-7000-8000-0000000000f2';
const REFUSED = { 409: 'Nothing of it is left, a dispute holds it, or its state does not allow it' };

const refunds: Route[] = [
  post('/v1/refunds', 'createRefund', REFUND, 'Give money back', {
    status: 201,
    problems: REFUSED,
    example: { request: { payment_id: aPayment, amount: { amount: 2500, currency: 'USD' }, reason: 'requested_by_customer' } },
  }),
  get('/v1/admin/refunds', 'refunds', REFUND, 'List refunds'),
  post('/v1/admin/refunds', 'createStaffRefund', REFUND, 'Give money back as staff', {
    status: 201,
    problems: REFUSED,
    example: { request: { payment_id: aPayment, reason: 'goodwill', note: 'Arrived late' } },
  }),
  post('/v1/admin/refunds/{id}/approve', 'approveRefund', REFUND, "Agree to another person's refund", {
    problems: { 409: 'It does not wait for approval' },
  }),
  post('/v1/admin/refunds/{id}/reject', 'rejectRefund', REFUND, 'Refuse a refund', { problems: { 409: 'It does not wait for approval' } }),
];

const routes: Route[] = [...prices, ...methods, ...checkout, ...payments, ...refunds];
export default routes;
