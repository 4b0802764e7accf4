import { body, input, path, query, type Route } from '../../route.js';
import { ATTEMPT, DATES, PAGE, STATS, SUBSCRIPTION } from './selections.js';

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
  {
    method: 'POST',
    path: '/v1/webhook-subscriptions/{id}/test',
    status: [200],
    summary: 'Send an example once and see what happens',
    document: `mutation TestWebhookSubscription($input: TestWebhookSubscriptionInput!) { result: testWebhookSubscription(input: $input) { ${ATTEMPT} } }`,
    variables: { input: input({ path: ['id'] }) },
    example: { request: { event_type: 'payment.charged.v1' } },
    problems: { 429: 'More than 10 tests in a minute' },
  },
  {
    method: 'GET',
    path: '/v1/webhook-subscriptions/{id}/stats',
    status: [200],
    summary: 'How a subscription fared over the last hour, day or week',
    document: `query WebhookSubscriptionStats($id: ID!, $window: WebhookStatsWindow) { webhookSubscription(id: $id) { result: stats(window: $window) { ${STATS} } } }`,
    variables: { id: path('id'), window: query('window') },
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

export default [...subscriptions, ...secrets];
