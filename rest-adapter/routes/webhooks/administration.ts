import { body, input, path, query, type Route } from '../../route.js';
import { EVENT_TYPE, MANAGER, PAGE } from './selections.js';

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/webhook-event-types',
    status: [200],
    summary: 'Event types that can be subscribed to',
    document: `query WebhookEventTypes($clientId: String, $scope: String, $q: String, $first: Int, $after: String) {
      result: webhookEventTypes(clientId: $clientId, scope: $scope, q: $q, first: $first, after: $after) {
        nodes { ${EVENT_TYPE} } ${PAGE}
      }
    }`,
    variables: { clientId: query('client_id'), scope: query('scope'), q: query('q') },
  },
  {
    method: 'GET',
    path: '/v1/webhook-event-types/{name}',
    status: [200],
    summary: 'Read an event type with its schema and example',
    document: `query WebhookEventType($name: String!, $clientId: String) { result: webhookEventType(name: $name, clientId: $clientId) { ${EVENT_TYPE} } }`,
    variables: { name: path('name'), clientId: query('client_id') },
    problems: { 404: 'There is no such type, or it never leaves the platform' },
  },
  {
    method: 'GET',
    path: '/v1/webhook-managers',
    status: [200],
    summary: 'Machine clients that manage some clients only',
    document: `query WebhookManagers($first: Int, $after: String) { result: webhookManagers(first: $first, after: $after) { nodes { ${MANAGER} } ${PAGE} } }`,
  },
  {
    method: 'PUT',
    path: '/v1/webhook-managers/{manager_client_id}',
    status: [200],
    summary: 'Bind a machine client to the clients that it may manage',
    document: `mutation SetWebhookManager($input: SetWebhookManagerInput!) { result: setWebhookManager(input: $input) { ${MANAGER} } }`,
    variables: { input: input({ path: ['manager_client_id'] }) },
    example: { request: { client_ids: ['acme-billing'] } },
  },
  {
    method: 'DELETE',
    path: '/v1/webhook-managers/{manager_client_id}',
    status: [204],
    summary: 'Let a machine client manage all clients again',
    document: `mutation DeleteWebhookManager($input: DeleteWebhookManagerInput!) { result: deleteWebhookManager(input: $input) { managerClientId } }`,
    variables: { input: input({ body: false, path: ['manager_client_id'] }) },
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

export default routes;
