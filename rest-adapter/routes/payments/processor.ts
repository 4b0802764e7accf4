import { del, get, post, put, type Route } from '../../route.js';

const MONEY = '{ amount currency }';
const USER = '0190b3a0-0000-7000-8000-0000000000a1';

const DISPUTE = `id payment { id } amount ${MONEY} fee ${MONEY} status reason evidenceDueAt evidenceSubmittedAt fundsWithdrawn openedAt closedAt evidence`;

const disputes: Route[] = [
  get('/v1/admin/disputes', 'disputes', DISPUTE, 'List disputes, those whose evidence is due soonest first'),
  get('/v1/admin/disputes/{id}', 'dispute', DISPUTE, 'Read a dispute'),
  post('/v1/admin/disputes/{id}/evidence', 'submitDisputeEvidence', DISPUTE, 'Send evidence to the bank, once', {
    problems: { 409: 'Evidence was sent before, or the dispute is closed' },
    example: { request: { evidence: { uncategorized_text: 'The parcel was signed for.' } } },
  }),
  post('/v1/admin/disputes/{id}/accept', 'acceptDispute', DISPUTE, 'Give a dispute up', {
    problems: { 409: 'The dispute is closed, or only an inquiry' },
  }),
];

const PAYOUT = `id kind user { id } amount ${MONEY} status destinationSummary reference failureCode arrivalDate requestedBy approvedBy createdAt version`;
const DESTINATION = 'id summary createdAt';

const payouts: Route[] = [
  get('/v1/admin/payouts', 'payouts', PAYOUT, 'List payouts, newest first'),
  get('/v1/admin/payouts/{id}', 'payout', PAYOUT, 'Read a payout'),
  post('/v1/admin/payouts', 'createPayout', PAYOUT, "Pay a user's earnings out", {
    status: [201, 200],
    problems: { 409: 'The user has no payout destination, or the wallet less than that' },
    example: { request: { user_id: USER, amount: { amount: 800, currency: 'USD' }, reference: 'earnings-2026-11' } },
  }),
  post('/v1/admin/payouts/{id}/cancel', 'cancelPayout', PAYOUT, 'Stop a payout that the bank has not taken yet', {
    problems: { 409: 'It is too late' },
  }),
  post('/v1/admin/payouts/{id}/approve', 'approvePayout', PAYOUT, 'Let a payout go that somebody else has asked for', {
    problems: { 403: 'The same person asked for it', 409: 'It waits for no approval' },
  }),
  post('/v1/admin/payouts/{id}/reject', 'rejectPayout', PAYOUT, 'Refuse a payout that somebody else has asked for', {
    problems: { 403: 'The same person asked for it', 409: 'It waits for no approval' },
  }),
  get('/v1/billing/payout-destination', 'payoutDestination', DESTINATION, 'Read where payouts go'),
  put('/v1/billing/payout-destination', 'setPayoutDestination', DESTINATION, 'Set where payouts go', {
    example: { request: { token: 'ba_ok' } },
  }),
  del('/v1/billing/payout-destination', 'removePayoutDestination', null, 'Let payouts go nowhere'),
];

const EVENT = 'id processor processorEventId type status attempts receivedAt processedAt error';
const DISCREPANCIES = `nodes { id kind processorRef paymentId orderId expected ${MONEY} actual ${MONEY} detectedAt } pageInfo { endCursor hasNextPage }`;
const RUN = `id status from to compared matched totals { processor ${MONEY} payments ${MONEY} storefront ${MONEY} ledger ${MONEY} }
  discrepancies { ${DISCREPANCIES} } startedAt finishedAt`;
const MIRROR = `payment { id status amount ${MONEY} amountCaptured ${MONEY} amountRefunded ${MONEY} externalRef purpose processor } applied reason`;
const REPORT = `window { from to } attempts failures failureRateBps baselineRateBps breached groups { key value failures }
  stuck { paymentId since resolvedTo } webhookLagSeconds alertId`;
const OVERVIEW = `currency from to charged ${MONEY} fees ${MONEY} refunded ${MONEY} disputed ${MONEY} paidOut ${MONEY} outstanding ${MONEY}
  pastDueInvoices openDisputes refundsToApprove payoutsToApprove stuckPayments { payment { id status } since attempts nextLookAt }
  deadProcessorEvents webhookLagSeconds lastReconciliation { id status finishedAt }`;

const operations: Route[] = [
  get('/v1/admin/webhooks', 'processorEvents', EVENT, 'List calls of the processor, newest first'),
  post(
    '/v1/admin/webhooks/replay',
    'replayProcessorEvents',
    'matched replayed unchanged failed events { id status }',
    'Handle kept calls of the processor again',
    {
      example: { request: { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z', dry_run: true } },
    },
  ),
  post(
    '/v1/admin/reconciliation/processor-storefront',
    'reconcileProcessorStorefront',
    RUN,
    'Compare processor, payments, shop and books',
    {
      status: 202,
      location: '/v1/admin/reconciliation/runs/{id}',
      problems: { 409: 'One is running' },
      example: { request: {} },
    },
  ),
  get('/v1/admin/reconciliation/runs/{id}', 'reconciliationRun', RUN, 'Read a comparison'),
  post('/v1/admin/payments/monitor-failures', 'monitorPaymentFailures', REPORT, 'Count failing attempts', { example: { request: {} } }),
  get('/v1/admin/finance', 'financeOverview', OVERVIEW, 'Read the money of a period'),
  post('/v1/admin/sync/telehealth-charge', 'syncTelehealthCharge', MIRROR, 'Mirror a charge of the telehealth partner', {
    example: {
      request: {
        partner_charge_id: 'ch_8812',
        user_id: USER,
        status: 'captured',
        amount: { amount: 4900, currency: 'USD' },
        occurred_at: '2026-11-20T09:30:00.000Z',
      },
    },
  }),
  post('/v1/admin/sandbox/actions', 'sandboxAction', 'action paymentId', 'Play customer, bank or processor (sandbox only)', {
    problems: { 404: 'The processor is another one', 409: 'There is nothing that this could be done to' },
    example: { request: { action: 'hold_webhooks' } },
  }),
  post('/v1/admin/test-clock', 'setPaymentsClock', 'now', "Move this service's manual clock (development and tests)"),
];

const routes: Route[] = [...disputes, ...payouts, ...operations];
export default routes;
