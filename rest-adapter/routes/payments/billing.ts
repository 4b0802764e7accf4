import { del, get, patch, post, type Route } from '../../route.js';

const MONEY = '{ amount currency }';
const PRICE = `id key subjectKind subjectId tier unitAmount ${MONEY} recurring { interval intervalCount }`;
const ACTION = 'nextAction { type url expiresAt }';
const SUBSCRIPTION = `id user { id } customer { id } price { ${PRICE} } quantity status source currentPeriodStart currentPeriodEnd anchorDay anchorAt
  trialEndsAt cancelAtPeriodEnd cancelledAt endedAt cancelReason pausedAt resumeAt bankedSeconds
  pendingChange { price { ${PRICE} } quantity effectiveAt } paymentMethod { id } latestInvoice { id number status } promo { id code } ${ACTION}
  metadata createdAt version`;
const LINE = `id kind description price { id key } quantity amount ${MONEY} periodStart periodEnd`;
const INVOICE = `id number user { id } subscription { id } status lines { ${LINE} } subtotal ${MONEY} discount ${MONEY} tax ${MONEY} total ${MONEY}
  cashApplied ${MONEY} creditApplied ${MONEY} amountPaid ${MONEY} amountDue ${MONEY} amountRefunded ${MONEY} periodStart periodEnd dueAt attemptCount
  nextAttemptAt payments { id status amount ${MONEY} methodSummary ${ACTION} } sellerName creditNotes { id number amount ${MONEY} } pdfUrl paidAt
  createdAt version`;
const NOTE = `id number invoice { id number } refund { id } amount ${MONEY} tax ${MONEY} reason sellerName pdfUrl createdAt`;
const PREVIEW = `token expiresAt effectiveAt direction invoice { total ${MONEY} amountDue ${MONEY} chargeAt lines { ${LINE} } } toCredit ${MONEY} fromTier toTier accessEndsAt`;
const RUN = 'id attempted succeeded failed skipped { invoiceId reason } dryRun';

const anId = '0190b3a0-0000-7000-8000-0000000000e1';
const DECLINED = { 402: 'The charge was declined' };

const subscriptions: Route[] = [
  post('/v1/subscriptions', 'createBillingSubscription', SUBSCRIPTION, 'Open a subscription', {
    status: 201,
    problems: { ...DECLINED, 409: 'The user has a membership of this brand' },
    example: { request: { price_id: anId, quantity: 1, payment_behavior: 'error_if_incomplete' } },
  }),
  get(
    '/v1/subscriptions/{id}',
    'billingSubscription',
    `${SUBSCRIPTION} upcomingInvoice { total ${MONEY} amountDue ${MONEY} chargeAt }`,
    'Read a subscription',
  ),
  patch('/v1/subscriptions/{id}', 'updateBillingSubscription', SUBSCRIPTION, 'Change plan, quantity, method or end', {
    problems: { ...DECLINED, 409: 'It was changed meanwhile (If-Match), or its state does not allow that' },
    example: { request: { price_id: anId } },
  }),
  del('/v1/subscriptions/{id}', 'cancelBillingSubscription', 'id', 'End a subscription now', {
    constant: { at: 'NOW', ifLive: true },
    omit: ['reason', 'comment', 'previewToken'],
    as: 'endBillingSubscription',
  }),
  post('/v1/subscriptions/{id}/cadence', 'changeBillingCadence', SUBSCRIPTION, 'Bill the same plan at another cadence', {
    problems: DECLINED,
    example: { request: { interval: 'month', interval_count: 3, effective: 'period_end' } },
  }),
  post('/v1/subscriptions/{id}/cancel', 'cancelBillingSubscription', SUBSCRIPTION, 'End a subscription', {
    omit: ['ifLive'],
    problems: { 409: 'It has ended' },
    example: { request: { at: 'period_end', reason: 'too_expensive' } },
  }),
  post('/v1/subscriptions/{id}/preview', 'previewSubscriptionChange', PREVIEW, 'See what a change would do', {
    example: { request: { price_id: anId } },
  }),
  post('/v1/subscriptions/{id}/pause', 'pauseBillingSubscription', SUBSCRIPTION, 'Pause a subscription', {
    problems: { 409: 'It is neither active nor in trial' },
    example: { request: { resume_at: null, effective: 'now' } },
  }),
  post('/v1/subscriptions/{id}/resume', 'resumeBillingSubscription', SUBSCRIPTION, 'Resume a subscription', {
    problems: { ...DECLINED, 409: 'It is not paused' },
  }),
  post('/v1/billing/subscription/cancel', 'cancelMyBillingSubscription', SUBSCRIPTION, 'End the own membership', {
    example: { request: { at: 'period_end' } },
  }),
  post('/v1/billing/subscription/pause', 'pauseMyBillingSubscription', SUBSCRIPTION, 'Pause the own membership'),
  post('/v1/admin/subscriptions/{id}/cancel', 'adminCancelBillingSubscription', SUBSCRIPTION, 'End anybody’s subscription', {
    problems: { 409: 'It has ended' },
    example: { request: { at: 'now', reason: 'asked by phone', refund: 'prorated' } },
  }),
  post('/v1/admin/subscriptions/{id}/pause', 'adminPauseBillingSubscription', SUBSCRIPTION, 'Pause anybody’s subscription', {
    example: { request: { void_open: true, reason: 'asked by phone' } },
  }),
  post('/v1/admin/subscriptions/{id}/resume', 'adminResumeBillingSubscription', SUBSCRIPTION, 'Resume anybody’s subscription', {
    problems: DECLINED,
    example: { request: { waive_overdue: true, reason: 'asked by phone' } },
  }),
];

const invoices: Route[] = [
  get('/v1/billing/invoices', 'userInvoices', INVOICE, 'List invoices'),
  get('/v1/billing/invoices/{id}', 'invoice', INVOICE, 'Read an invoice'),
  post('/v1/billing/invoices/{id}/pay', 'payInvoice', INVOICE, 'Pay an invoice', { problems: { ...DECLINED, 409: 'It is paid or void' } }),
  get('/v1/credit-notes/{id}', 'creditNote', NOTE, 'Read a credit note'),
  post('/v1/admin/invoices/{id}/void', 'voidInvoice', INVOICE, 'Take an invoice back', {
    problems: { 409: 'Something of it is paid' },
    example: { request: { reason: 'made by mistake' } },
  }),
  post('/v1/admin/invoices/{id}/uncollectible', 'markInvoiceUncollectible', INVOICE, 'Write an invoice off', {
    example: { request: { reason: 'the customer is gone' } },
  }),
  post('/v1/admin/dunning/retry-invoices', 'retryInvoices', RUN, 'Try invoices that are past due', {
    example: { request: { invoice_ids: [anId], ignore_schedule: true } },
  }),
];

const routes: Route[] = [...subscriptions, ...invoices];
export default routes;
