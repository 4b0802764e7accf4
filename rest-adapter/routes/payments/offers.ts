import { get, patch, post, type Route } from '../../route.js';

const MONEY = 'amount currency';
const AMOUNTS = `subtotal { ${MONEY} } discount { ${MONEY} } tax { ${MONEY} } shipping { ${MONEY} } cashApplied { ${MONEY} }
  creditApplied { ${MONEY} } total { ${MONEY} }`;
const PROMO = `id code name kind percentBps amountOff { ${MONEY} } trialDays duration durationPeriods status startsAt endsAt
  minSubtotal { ${MONEY} } firstPurchaseOnly maxRedemptions perUserLimit redeemedCount reservedCount appliesTo { priceIds subjectKinds }
  affiliateCode brand { id } createdAt version`;
const VALIDATION = `valid code reason promo { kind percentBps amountOff { ${MONEY} } trialDays duration durationPeriods }
  amounts { ${AMOUNTS} } allocations { line subjectId amount { ${MONEY} } }`;

const aBrand = '0190b3a0-0000-7000-8000-000000000001';
const aLine = {
  subject_kind: 'product_variant',
  subject_id: '0190b3a0-0000-7000-8000-0000000000f1',
  quantity: 1,
  subtotal: { amount: 9900, currency: 'USD' },
};
const validation = { example: { request: { code: 'SPRING20', brand_id: aBrand, lines: [aLine] } } };

const promos: Route[] = [
  get('/v1/admin/promos', 'promos', PROMO, 'List promos'),
  post('/v1/admin/promos', 'createPromo', PROMO, 'Make a promo', {
    status: 201,
    problems: { 409: 'The brand has a promo with this code' },
    example: { request: { code: 'AUTUMN10', brand_id: aBrand, kind: 'percent', percent_bps: 1000, duration: 'once' } },
  }),
  patch('/v1/admin/promos/{id}', 'updatePromo', PROMO, 'Disable a promo, or move its end and its limits', {
    problems: { 409: 'It is disabled or expired, or was changed meanwhile' },
  }),
  post('/v1/promos/validate', 'validatePromo', VALIDATION, 'Try a code', validation),
  post('/v1/promo/validate', 'validatePromo', VALIDATION, 'Try a code', { ...validation, as: 'validatePromoAlias' }),
];

const GIFT = `id kind status purchaser { id } price { id key } periods value { ${MONEY} } code codeLast4 recipientName recipientEmail message deliverAt
  expiresAt redeemedBy { id } redeemedAt payment { id status } createdAt version`;
const GIFT_SESSION = `id status url gift { ${GIFT} } amounts { ${AMOUNTS} } expiresAt`;
const REDEMPTION = `gift { ${GIFT} } subscription { id status source currentPeriodStart currentPeriodEnd cancelAtPeriodEnd }
  cashGrantId`;
const declined = { 402: 'The charge was declined' } as const;
const redemption = {
  problems: { 404: 'No gift has this code, or it is used, refunded or over', 409: 'The member has a membership of another plan' },
  example: { request: { code: '7K3QM-9D2FX-ABCDE-01234', auto_renew: false } },
} as const;

const gifts: Route[] = [
  post('/v1/billing/gifts/checkout-session', 'createGiftCheckoutSession', GIFT_SESSION, 'Begin to buy a gift', {
    status: 201,
    problems: declined,
    example: {
      request: {
        user_id: '0190b3a0-0000-7000-8000-0000000000a1',
        kind: 'credit',
        value: { amount: 5000, currency: 'USD' },
        recipient: { name: 'Sam', email: 'sam@example.test' },
        return_url: 'http://localhost:5174/done',
      },
    },
  }),
  post(
    '/v1/billing/gifts/checkout-session/{session_id}/finalize',
    'finalizeGiftCheckoutSession',
    GIFT_SESSION,
    'The gift of a paid session, with its code',
    { problems: { 409: 'It is not paid' } },
  ),
  post('/v1/billing/gifts/redeem', 'redeemGift', REDEMPTION, 'Redeem a gift', redemption),
  post('/v1/gift-membership/redeem', 'redeemGift', REDEMPTION, 'Redeem a gift', { ...redemption, as: 'redeemGiftAlias' }),
];

const portal: Route[] = [
  post('/v1/billing/portal-session', 'createPortalSession', 'id url expiresAt', 'Open the billing pages for a customer', {
    status: 201,
    example: { request: { user_id: '0190b3a0-0000-7000-8000-0000000000a1', return_url: 'http://localhost:5174/account', flow: 'home' } },
  }),
];

const SUMMARY = `user { id } currency defaultPaymentMethod { id type status isDefault card { brand last4 expMonth expYear } }
  subscriptions { id status source quantity currentPeriodStart currentPeriodEnd trialEndsAt cancelAtPeriodEnd pausedAt resumeAt version }
  nextCharge { total { ${MONEY} } amountDue { ${MONEY} } chargeAt lines { kind description quantity amount { ${MONEY} } periodStart periodEnd } }
  outstanding { ${MONEY} } creditBalance { ${MONEY} } delinquent
  lastPayment { id status purpose amount { ${MONEY} } methodSummary capturedAt createdAt } actionRequired`;

const summaries: Route[] = [
  get('/v1/billing/summary', 'billingSummary', SUMMARY, 'Where somebody stands with their billing'),
  get(
    '/v1/admin/members/{user_id}/billing-summary',
    'memberBillingSummary',
    `summary { ${SUMMARY} } lifetimeCharged { ${MONEY} } lifetimeRefunded { ${MONEY} } openDisputes lostDisputes failedLast90d refundRateBps
     firstPaymentAt invoices { id number status total { ${MONEY} } amountDue { ${MONEY} } createdAt } flags`,
    'Where a member stands, for staff',
  ),
];

const timelines: Route[] = [
  get(
    '/v1/payments/{id}/timeline',
    'paymentTimeline',
    `paymentId entries { at source kind id amount { ${MONEY} } } omitted`,
    'Everything that happened to a payment, across services',
  ),
];

const previews: Route[] = [
  post(
    '/v1/refunds/preview',
    'previewRefund',
    `amount { ${MONEY} } cashReturned { ${MONEY} } creditReturned { ${MONEY} } tax { ${MONEY} } isFull subscriptionId token expiresAt`,
    'What a refund would do',
    { problems: { 409: 'Nothing is refundable' } },
  ),
];

const routes: Route[] = [...previews, ...summaries, ...timelines, ...promos, ...gifts, ...portal];
export default routes;
