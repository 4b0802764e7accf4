import { body, input, path, query, type Route, type RouteTable } from '../route.js';

const SUBSCRIPTION = `id clientId name description url status disabledReason statusChangedAt eventTypes timeoutMs maxConcurrency rateLimitPerSecond spread
  headers { name } standardHeaders secrets { id hint status createdAt activatesAt expiresAt } circuit { state since nextProbeAt } failingSince`;
const DATES = 'createdAt updatedAt version';

const DELIVERY = `id subscriptionId clientId eventId eventType userId sequence status waitingFor blockedBy: blockedById attemptCount maxAttempts nextAttemptAt firstAttemptAt
  deliveredAt finishedAt lastStatusCode lastError deadLetterReason cancelReason replayOf: replayOfId resolvedAt`;

const ATTEMPT = `id deliveryId number startedAt finishedAt url resolvedIp statusCode error timings { dnsMs connectMs tlsMs firstByteMs totalMs }
  requestHeaders responseHeaders responseBody responseTruncated trigger`;

const PAGE = 'pageInfo { endCursor hasNextPage }';

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

/** A state change of a subscription whose whole input is its id. */
const change = (word: string, summary: string): Route => ({
  method: 'POST',
  path: `/v1/webhook-subscriptions/{id}/${word}`,
  status: [200],
  summary,
  document: `mutation ${word[0]!.toUpperCase()}${word.slice(1)}WebhookSubscription($id: ID!) {
    result: ${word}WebhookSubscription(id: $id) { ${SUBSCRIPTION} lastSuccessAt lastFailureAt ${DATES} }
  }`,
  variables: { id: path('id') },
  problems: { 409: 'The subscription is in another state, or may not be used as it is' },
});

const subscriptions: Route[] = [
  {
    method: 'GET',
    path: '/v1/webhook-subscriptions',
    status: [200],
    summary: 'List webhook subscriptions',
    document: `query WebhookSubscriptions($clientId: String, $status: WebhookSubscriptionStatus, $eventType: String, $first: Int, $after: String) {
      result: webhookSubscriptions(clientId: $clientId, status: $status, eventType: $eventType, first: $first, after: $after) {
        nodes { ${SUBSCRIPTION} lastSuccessAt lastFailureAt ${DATES} } ${PAGE}
      }
    }`,
    variables: { clientId: query('client_id'), status: query('status'), eventType: query('event_type') },
  },
  {
    method: 'POST',
    path: '/v1/webhook-subscriptions',
    status: [201],
    location: '/v1/webhook-subscriptions/{id}',
    summary: 'Subscribe an endpoint to event types',
    document: `mutation CreateWebhookSubscription($input: CreateWebhookSubscriptionInput!) {
      result: createWebhookSubscription(input: $input) { ${SUBSCRIPTION} ${DATES} signingSecret }
    }`,
    variables: { input: body() },
    example: { request: SUBSCRIPTION_EXAMPLE },
    problems: { 409: 'The client has a subscription with this URL, or 20 of them' },
  },
  {
    method: 'GET',
    path: '/v1/webhook-subscriptions/{id}',
    status: [200],
    summary: 'Read a webhook subscription',
    document: `query WebhookSubscription($id: ID!) { result: webhookSubscription(id: $id) { ${SUBSCRIPTION} lastSuccessAt lastFailureAt ${DATES} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'PATCH',
    path: '/v1/webhook-subscriptions/{id}',
    status: [200],
    summary: 'Change a webhook subscription',
    document: `mutation UpdateWebhookSubscription($input: UpdateWebhookSubscriptionInput!) {
      result: updateWebhookSubscription(input: $input) { ${SUBSCRIPTION} lastSuccessAt lastFailureAt ${DATES} }
    }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { name: 'Billing sync, new', version: 1 } },
    problems: { 409: 'It was changed meanwhile, or the client has a subscription with this URL' },
  },
  {
    method: 'DELETE',
    path: '/v1/webhook-subscriptions/{id}',
    status: [204],
    summary: 'Delete a webhook subscription',
    document: `mutation DeleteWebhookSubscription($input: DeleteWebhookSubscriptionInput!) { result: deleteWebhookSubscription(input: $input) { id } }`,
    variables: { input: input({ body: false, path: ['id'] }) },
  },
  change('pause', 'Hold deliveries back'),
  change('resume', 'Let held deliveries go on'),
  change('enable', 'Enable a disabled subscription'),
  {
    method: 'POST',
    path: '/v1/webhook-subscriptions/{id}/disable',
    status: [200],
    summary: 'Disable a webhook subscription',
    document: `mutation DisableWebhookSubscription($input: DisableWebhookSubscriptionInput!) {
      result: disableWebhookSubscription(input: $input) { ${SUBSCRIPTION} lastSuccessAt lastFailureAt ${DATES} }
    }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { reason: 'Asked for by the owner' } },
    problems: { 409: 'It is disabled already' },
  },
];

const secrets: Route[] = [
  {
    method: 'POST',
    path: '/v1/webhook-subscriptions/{id}/rotate-secret',
    status: [200],
    summary: 'Make a new signing secret',
    document: `mutation RotateWebhookSecret($input: RotateWebhookSecretInput!) {
      result: rotateWebhookSecret(input: $input) { ${SUBSCRIPTION} ${DATES} signingSecret }
    }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { overlap_hours: 24, activation: 'immediate' } },
    problems: { 409: 'A next secret waits already' },
  },
  {
    method: 'POST',
    path: '/v1/webhook-subscriptions/{id}/secrets/{secret_id}/expire',
    status: [200],
    summary: 'End a previous secret, or let a next one take over now',
    document: `mutation ExpireWebhookSecret($input: ExpireWebhookSecretInput!) {
      result: expireWebhookSecret(input: $input) { ${SUBSCRIPTION} lastSuccessAt lastFailureAt ${DATES} }
    }`,
    variables: { input: input({ body: false, path: ['id', 'secret_id'] }) },
    problems: { 409: 'It is the current secret' },
  },
];

const deliveries: Route[] = [
  {
    method: 'GET',
    path: '/v1/webhook-deliveries',
    status: [200],
    summary: 'List deliveries',
    document: `query WebhookDeliveries($clientId: String, $subscriptionId: ID, $eventId: ID, $eventType: String, $userId: ID, $status: [WebhookDeliveryStatus!],
      $waitingFor: WebhookWait, $statusCode: Int, $createdFrom: DateTime, $createdTo: DateTime, $replay: Boolean, $first: Int, $after: String) {
      result: webhookDeliveries(clientId: $clientId, subscriptionId: $subscriptionId, eventId: $eventId, eventType: $eventType, userId: $userId, status: $status,
        waitingFor: $waitingFor, statusCode: $statusCode, createdFrom: $createdFrom, createdTo: $createdTo, replay: $replay, first: $first, after: $after) {
        nodes { ${DELIVERY} createdAt } ${PAGE}
      }
    }`,
    variables: {
      clientId: query('client_id'),
      subscriptionId: query('subscription_id'),
      eventId: query('event_id'),
      eventType: query('event_type'),
      userId: query('user_id'),
      status: query('status'),
      waitingFor: query('waiting_for'),
      statusCode: query('status_code'),
      createdFrom: query('created_from'),
      createdTo: query('created_to'),
      replay: query('replay'),
    },
  },
  {
    method: 'GET',
    path: '/v1/webhook-deliveries/{id}',
    status: [200],
    summary: 'Read a delivery',
    document: `query WebhookDelivery($id: ID!) { result: webhookDelivery(id: $id) { ${DELIVERY} payload createdAt } }`,
    variables: { id: path('id') },
  },
  {
    method: 'GET',
    path: '/v1/webhook-deliveries/{id}/attempts',
    status: [200],
    summary: 'Attempts of a delivery, newest first',
    document: `query WebhookDeliveryAttempts($id: ID!, $first: Int, $after: String) {
      webhookDelivery(id: $id) { result: attempts(first: $first, after: $after) { nodes { ${ATTEMPT} } ${PAGE} } }
    }`,
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/webhook-deliveries/{id}/retry',
    status: [202],
    summary: 'Attempt a blocked delivery at once',
    document: `mutation RetryWebhookDelivery($input: RetryWebhookDeliveryInput!) { result: retryWebhookDelivery(input: $input) { ${DELIVERY} createdAt } }`,
    variables: { input: input({ body: false, path: ['id'] }) },
    problems: { 409: 'The delivery is not retrying, or waits behind another, or its subscription is not active' },
  },
  {
    method: 'GET',
    path: '/v1/webhook-dead-letters',
    status: [200],
    summary: 'List dead letters, oldest first',
    document: `query WebhookDeadLetters($clientId: String, $subscriptionId: ID, $eventType: String, $userId: ID, $reason: WebhookDeadLetterReason, $resolved: Boolean,
      $from: DateTime, $to: DateTime, $first: Int, $after: String) {
      result: webhookDeadLetters(clientId: $clientId, subscriptionId: $subscriptionId, eventType: $eventType, userId: $userId, reason: $reason, resolved: $resolved,
        from: $from, to: $to, first: $first, after: $after) { nodes { ${DELIVERY} createdAt } ${PAGE} }
    }`,
    variables: {
      clientId: query('client_id'),
      subscriptionId: query('subscription_id'),
      eventType: query('event_type'),
      userId: query('user_id'),
      reason: query('reason'),
      resolved: query('resolved'),
      from: query('from'),
      to: query('to'),
    },
  },
  {
    method: 'POST',
    path: '/v1/webhooks/{event_id}/replay',
    status: [202],
    summary: 'Deliver an event again',
    document: `mutation ReplayWebhookEvent($input: ReplayWebhookEventInput!) {
      result: replayWebhookEvent(input: $input) { eventId deliveries { id subscriptionId action status replayOf reason } }
    }`,
    variables: { input: input({ path: ['event_id'] }) },
    example: { request: { client_id: 'acme-billing' } },
    problems: { 403: 'The grant is no longer active', 409: 'The subscription is disabled, or its filter has lost the type' },
  },
  {
    method: 'GET',
    path: '/v1/webhook-event-types',
    status: [200],
    summary: 'Event types that can be subscribed to',
    document: `query WebhookEventTypes($clientId: String, $scope: String, $q: String, $first: Int, $after: String) {
      result: webhookEventTypes(clientId: $clientId, scope: $scope, q: $q, first: $first, after: $after) {
        nodes { name description scope sensitive granted subscribable jsonSchema example deprecatedAt } ${PAGE}
      }
    }`,
    variables: { clientId: query('client_id'), scope: query('scope'), q: query('q') },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-clock',
    status: [200],
    summary: "Move this service's manual clock (development and tests)",
    document: `mutation SetWebhooksClock($input: SetClockInput!) { result: setWebhooksClock(input: $input) { now } }`,
    variables: { input: body() },
  },
];

/** Routes of the webhooks service. Source: contracts/webhooks.md, section 4. */
const table: RouteTable = { service: 'webhooks', routes: [...subscriptions, ...secrets, ...deliveries] };
export default table;
