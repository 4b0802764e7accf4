import { del, get, patch, post, put, type Route, type RouteTable } from '../route.js';

const CONFIGURED = `id clientId name description url status disabledReason statusChangedAt eventTypes timeoutMs maxConcurrency
  rateLimitPerSecond spread headers { name } standardHeaders secrets { id hint status createdAt activatesAt expiresAt }
  circuit { state since nextProbeAt } failingSince`;
const DATES = 'createdAt updatedAt version';
const SUBSCRIPTION = `${CONFIGURED} closing lastSuccessAt lastFailureAt ${DATES}`;
const WITH_SECRET = `${CONFIGURED} ${DATES} signingSecret`;
const SENT = `id subscriptionId clientId eventId eventType userId sequence status waitingFor blockedBy: blockedById attemptCount
  maxAttempts nextAttemptAt firstAttemptAt deliveredAt finishedAt lastStatusCode lastError deadLetterReason cancelReason
  replayOf: replayOfId resolvedAt`;
const DELIVERY = `${SENT} createdAt`;
const WITH_PAYLOAD = `${SENT} payload createdAt`;
const REPLAY = 'eventId deliveries { id subscriptionId action status replayOf reason }';
const ATTEMPT = `id deliveryId subscriptionId eventType number startedAt finishedAt url resolvedIp statusCode error
  timings { dnsMs connectMs tlsMs firstByteMs totalMs } requestHeaders responseHeaders responseBody responseTruncated trigger`;
const EVENT_TYPE = `name description scope sensitive granted subscribable jsonSchema example sampleSignature { secret body signature }
  deprecatedAt`;
const STATS = 'delivered failedAttempts deadLettered pending blockedUsers successRate latencyP50Ms latencyP95Ms oldestPendingSeconds';
const DISCLOSURE = 'client { id name } eventType occurredAt deliveredAt count';
const MANAGER = 'managerClientId clientIds createdAt updatedAt';
const STARTED_JOB = 'id kind subscriptionId status matched created skipped requestedBy createdAt';
const JOB = `${STARTED_JOB} finishedAt`;
const RECEIPT = 'id source topic vendorEventId externalId status receivedAt bodySize emittedEventId';
const INBOUND_SOURCE = 'name scheme headerNames toleranceSeconds lastReceivedAt rejected24h secrets';

const SUBSCRIPTION_EXAMPLE = {
  client_id: 'acme-billing',
  name: 'Billing sync',
  url: 'https://hooks.example.com/platform',
  event_types: ['clinical.protocol.started.v1'],
  timeout_ms: 15_000,
  max_concurrency: 16,
  rate_limit_per_second: null,
  headers: [{ name: 'X-Env', value: 'prod' }],
  standard_headers: false,
};

/** A change of a subscription's state whose whole input is its id. */
const change = (action: string, summary: string): Route =>
  post(`/v1/webhook-subscriptions/{id}/${action}`, `${action}WebhookSubscription`, SUBSCRIPTION, summary, {
    problems: { 409: 'The subscription is in another state, or may not be used as it is' },
  });

const subscriptions: Route[] = [
  get('/v1/webhook-subscriptions', 'webhookSubscriptions', SUBSCRIPTION, 'List webhook subscriptions'),
  post('/v1/webhook-subscriptions', 'createWebhookSubscription', WITH_SECRET, 'Subscribe an endpoint to event types', {
    status: 201,
    problems: { 409: 'The client has a subscription with this URL, or 20 of them' },
    example: { request: SUBSCRIPTION_EXAMPLE },
  }),
  get('/v1/webhook-subscriptions/{id}', 'webhookSubscription', SUBSCRIPTION, 'Read a webhook subscription'),
  patch('/v1/webhook-subscriptions/{id}', 'updateWebhookSubscription', SUBSCRIPTION, 'Change a webhook subscription', {
    problems: { 409: 'It was changed meanwhile, or the client has a subscription with this URL' },
    example: { request: { name: 'Billing sync, new', version: 1 } },
  }),
  del('/v1/webhook-subscriptions/{id}', 'deleteWebhookSubscription', 'id', 'Delete a webhook subscription'),
  change('pause', 'Hold deliveries back'),
  change('resume', 'Let held deliveries go on'),
  change('enable', 'Enable a disabled subscription'),
  post('/v1/webhook-subscriptions/{id}/disable', 'disableWebhookSubscription', SUBSCRIPTION, 'Disable a webhook subscription', {
    problems: { 409: 'It is disabled already' },
    example: { request: { reason: 'Asked for by the owner' } },
  }),
  post('/v1/webhook-subscriptions/{id}/test', 'testWebhookSubscription', ATTEMPT, 'Send an example once and see what happens', {
    problems: { 429: 'More than 10 tests in a minute' },
    example: { request: { event_type: 'payment.charged.v1' } },
  }),
  get(
    '/v1/webhook-subscriptions/{id}/stats',
    'webhookSubscription.stats',
    STATS,
    'How a subscription fared over the last hour, day or week',
  ),
];

const secrets: Route[] = [
  post('/v1/webhook-subscriptions/{id}/rotate-secret', 'rotateWebhookSecret', WITH_SECRET, 'Make a new signing secret', {
    problems: { 409: 'A next secret waits already' },
    example: { request: { overlap_hours: 24, activation: 'immediate' } },
  }),
  post(
    '/v1/webhook-subscriptions/{id}/secrets/{secret_id}/expire',
    'expireWebhookSecret',
    SUBSCRIPTION,
    'End a previous secret, or let a next one take over now',
    { problems: { 409: 'It is the current secret' } },
  ),
];

const deliveries: Route[] = [
  get('/v1/webhook-deliveries', 'webhookDeliveries', DELIVERY, 'List deliveries'),
  get('/v1/webhook-deliveries/{id}', 'webhookDelivery', WITH_PAYLOAD, 'Read a delivery'),
  get('/v1/webhook-deliveries/{id}/attempts', 'webhookDelivery.attempts', ATTEMPT, 'Attempts of a delivery, newest first'),
  post('/v1/webhook-deliveries/{id}/retry', 'retryWebhookDelivery', DELIVERY, 'Attempt a blocked delivery at once', {
    status: 202,
    problems: { 409: 'The delivery is not retrying, or waits behind another, or its subscription is not active' },
  }),
  get('/v1/webhook-dead-letters', 'webhookDeadLetters', DELIVERY, 'List dead letters, oldest first'),
  post('/v1/webhooks/{event_id}/replay', 'replayWebhookEvent', REPLAY, 'Deliver an event again', {
    status: 202,
    problems: { 403: 'The grant is no longer active', 409: 'The subscription is disabled, or its filter has lost the type' },
    example: { request: { client_id: 'acme-billing' } },
  }),
  get('/v1/webhook-deliveries/me', 'myWebhookDisclosures', DISCLOSURE, 'What apps have received about oneself'),
  post(
    '/v1/webhook-deliveries/{id}/replay',
    'replayWebhookDelivery',
    DELIVERY,
    'Deliver again what was delivered or ended in the dead letters',
    {
      status: 202,
      problems: {
        403: 'The grant is no longer active',
        409: 'The delivery is open, one of its event waits already, or its subscription is disabled',
      },
    },
  ),
  post('/v1/webhook-dead-letters/{delivery_id}/discard', 'discardWebhookDeadLetter', DELIVERY, 'Give a dead letter up', {
    problems: { 409: 'The delivery is no dead letter' },
  }),
  get('/v1/webhook-attempts', 'webhookAttempts', ATTEMPT, 'The attempts log: every request of a time of at most 7 days, newest first'),
];

const jobs: Route[] = [
  post('/v1/webhook-subscriptions/{id}/recover', 'recoverWebhookSubscription', JOB, 'Deliver the events of a time that were missed', {
    status: 202,
    location: '/v1/webhook-jobs/{id}',
    problems: { 409: 'The subscription is not active, or a job of it runs' },
    example: { request: { since: '2026-11-20T00:00:00.000Z' } },
  }),
  post('/v1/webhook-dead-letters/replay', 'replayWebhookDeadLetters', STARTED_JOB, 'Deliver dead letters again, or count them', {
    status: [202, 200],
    omitNull: ['id', 'kind', 'subscription_id', 'status', 'created', 'skipped', 'requested_by', 'created_at'],
    problems: { 409: 'The subscription is disabled, or a job of it runs' },
    example: { request: { subscription_id: '019a9f20-0000-7000-8000-000000000001', dry_run: true } },
  }),
  get('/v1/webhook-jobs/{id}', 'webhookJob', JOB, 'Read a bulk replay or recovery'),
  post('/v1/webhook-jobs/{id}/cancel', 'cancelWebhookJob', JOB, 'Stop a bulk replay or recovery', {
    problems: { 409: 'The job has ended' },
  }),
];

const inbound: Route[] = [
  get('/v1/inbound-receipts', 'inboundReceipts', RECEIPT, 'Vendor calls that were taken'),
  get('/v1/inbound-receipts/{id}', 'inboundReceipt', `${RECEIPT} body`, 'Read a vendor call that was taken'),
  post('/v1/inbound-receipts/{id}/replay', 'replayInboundReceipt', RECEIPT, 'Emit the event of a vendor call again', { status: 202 }),
  get('/v1/inbound-sources', 'inboundSources', INBOUND_SOURCE, 'Vendors whose calls are taken'),
];

const administration: Route[] = [
  get('/v1/webhook-event-types', 'webhookEventTypes', EVENT_TYPE, 'Event types that can be subscribed to'),
  get('/v1/webhook-event-types/{name}', 'webhookEventType', EVENT_TYPE, 'Read an event type with its schema and example', {
    problems: { 404: 'There is no such type, or it never leaves the platform' },
  }),
  get('/v1/webhook-managers', 'webhookManagers', MANAGER, 'Machine clients that manage some clients only'),
  put('/v1/webhook-managers/{manager_client_id}', 'setWebhookManager', MANAGER, 'Bind a machine client to the clients that it may manage', {
    example: { request: { client_ids: ['acme-billing'] } },
  }),
  del(
    '/v1/webhook-managers/{manager_client_id}',
    'deleteWebhookManager',
    'managerClientId',
    'Let a machine client manage all clients again',
  ),
  post('/v1/admin/test-clock', 'setWebhooksClock', 'now', "Move this service's manual clock (development and tests)"),
];

/** Routes of the webhooks service. Source: contracts/webhooks.md, section 4. */
const table: RouteTable = {
  service: 'webhooks',
  routes: [...subscriptions, ...secrets, ...deliveries, ...jobs, ...inbound, ...administration],
};
export default table;
