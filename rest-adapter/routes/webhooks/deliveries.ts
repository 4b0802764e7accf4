import { input, path, query, type Route } from '../../route.js';
import { ATTEMPT, DELIVERY, DISCLOSURE, PAGE } from './selections.js';

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
    path: '/v1/webhook-deliveries/me',
    status: [200],
    summary: 'What apps have received about oneself',
    document: `query MyWebhookDisclosures($clientId: String, $first: Int, $after: String) {
      result: myWebhookDisclosures(clientId: $clientId, first: $first, after: $after) { nodes { ${DISCLOSURE} } ${PAGE} }
    }`,
    variables: { clientId: query('client_id') },
  },
  {
    method: 'POST',
    path: '/v1/webhook-deliveries/{id}/replay',
    status: [202],
    summary: 'Deliver again what was delivered or ended in the dead letters',
    document: `mutation ReplayWebhookDelivery($input: ReplayWebhookDeliveryInput!) { result: replayWebhookDelivery(input: $input) { ${DELIVERY} createdAt } }`,
    variables: { input: input({ body: false, path: ['id'] }) },
    problems: {
      403: 'The grant is no longer active',
      409: 'The delivery is open, one of its event waits already, or its subscription is disabled',
    },
  },
  {
    method: 'POST',
    path: '/v1/webhook-dead-letters/{delivery_id}/discard',
    status: [200],
    summary: 'Give a dead letter up',
    document: `mutation DiscardWebhookDeadLetter($input: DiscardWebhookDeadLetterInput!) {
      result: discardWebhookDeadLetter(input: $input) { ${DELIVERY} createdAt }
    }`,
    variables: { input: input({ body: false, path: ['delivery_id'] }) },
    problems: { 409: 'The delivery is no dead letter' },
  },
  {
    method: 'GET',
    path: '/v1/webhook-attempts',
    status: [200],
    summary: 'The attempts log: every request of a time of at most 7 days, newest first',
    document: `query WebhookAttempts($clientId: String, $subscriptionId: ID, $eventType: String, $error: WebhookAttemptError, $statusCode: Int, $succeeded: Boolean,
      $trigger: WebhookAttemptTrigger, $from: DateTime, $to: DateTime, $first: Int, $after: String) {
      result: webhookAttempts(clientId: $clientId, subscriptionId: $subscriptionId, eventType: $eventType, error: $error, statusCode: $statusCode,
        succeeded: $succeeded, trigger: $trigger, from: $from, to: $to, first: $first, after: $after) { nodes { ${ATTEMPT} } ${PAGE} }
    }`,
    variables: {
      clientId: query('client_id'),
      subscriptionId: query('subscription_id'),
      eventType: query('event_type'),
      error: query('error'),
      statusCode: query('status_code'),
      succeeded: query('succeeded'),
      trigger: query('trigger'),
      from: query('from'),
      to: query('to'),
    },
  },
];

export default deliveries;
