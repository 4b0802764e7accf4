import { path, type Route } from '../../route.js';

/** Fronts of two operations of entitlements, whose rules hold here too. Source: identity 4. */
const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/entitlements/{user_id}',
    status: [200],
    summary: 'What a user may use',
    document: `query UserEntitlements($userId: ID!) {
      result: entitlements(userId: $userId) {
        userId features { key access reason value limit used remaining resetsAt source endsAt } version computedAt validUntil
      }
    }`,
    variables: { userId: path('user_id') },
    etag: true,
    problems: { 503: 'Entitlements cannot be reached' },
  },
  {
    method: 'GET',
    path: '/v1/entitlements/{user_id}/check/{product_key}',
    status: [200],
    summary: 'Whether a user may use a feature or product',
    document: `query CheckUserEntitlement($userId: ID!, $key: String!) {
      result: checkEntitlement(userId: $userId, key: $key) { key allowed reason remaining resetsAt validUntil isFallback }
    }`,
    variables: { userId: path('user_id'), key: path('product_key') },
    problems: { 503: 'Entitlements cannot be reached' },
  },
];

export default routes;
