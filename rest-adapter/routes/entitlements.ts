import { body, input, path, query, type Route, type RouteTable } from '../route.js';

const ENTITLEMENTS =
  'userId features { key access reason value limit used remaining resetsAt source endsAt } version computedAt validUntil';
const CHECK = 'key allowed reason remaining resetsAt validUntil isFallback';
const FEATURE = 'key name kind unit failMode defaultValue usageReset softLimit productIds archived createdAt version';
const OVERRIDE = `id user { id } feature { key } allow value limit startsAt endsAt state source reference reason createdBy createdAt`;
const PAGE = 'pageInfo { endCursor hasNextPage }';

const USER_ID = '0190b3a0-0000-7000-8000-0000000000a1';

const answers: Route[] = [
  {
    method: 'GET',
    path: '/v1/entitlements/me',
    status: [200],
    summary: 'What one may use oneself',
    document: `query MyEntitlements { result: entitlements { ${ENTITLEMENTS} } }`,
    etag: true,
  },
  {
    method: 'GET',
    path: '/v1/entitlements',
    status: [200],
    summary: 'What a user may use',
    document: `query Entitlements($userId: ID) { result: entitlements(userId: $userId) { ${ENTITLEMENTS} } }`,
    variables: { userId: query('user_id') },
    etag: true,
  },
  {
    method: 'GET',
    path: '/v1/entitlements/me/check/{feature_key}',
    status: [200],
    summary: 'Whether one may use a feature oneself',
    document: `query CheckMyEntitlement($key: String!) { result: checkEntitlement(key: $key) { ${CHECK} } }`,
    variables: { key: path('feature_key') },
  },
  {
    method: 'GET',
    path: '/v1/entitlements/check/{feature_key}',
    status: [200],
    summary: 'Whether a user may use a feature',
    document: `query CheckEntitlement($userId: ID, $key: String!) { result: checkEntitlement(userId: $userId, key: $key) { ${CHECK} } }`,
    variables: { userId: query('user_id'), key: path('feature_key') },
  },
  {
    method: 'POST',
    path: '/v1/entitlements/check',
    status: [200],
    summary: 'Whether many users may use many features',
    document: `query CheckEntitlements($input: CheckEntitlementsInput!) { result: checkEntitlements(input: $input) { userId checks { ${CHECK} } } }`,
    variables: { input: body() },
    example: { request: { user_ids: [USER_ID], keys: ['labs.discount', 'ai.messages'] } },
  },
];

const usage: Route[] = [
  {
    method: 'POST',
    path: '/v1/entitlements/usage',
    status: [200],
    summary: 'Count a use of a metered feature',
    document: `mutation ConsumeEntitlement($input: ConsumeEntitlementInput!) { result: consumeEntitlement(input: $input) { ${CHECK} } }`,
    variables: { input: body() },
    problems: { 409: 'The limit is reached, or the feature may not be used; nothing is counted' },
    example: { request: { user_id: USER_ID, key: 'ai.messages', amount: 1, idempotency_key: 'message-42' } },
  },
  {
    method: 'POST',
    path: '/v1/entitlements/usage/return',
    status: [200],
    summary: 'Take a use back',
    document: `mutation ReturnEntitlement($input: ReturnEntitlementInput!) { result: returnEntitlement(input: $input) { ${CHECK} } }`,
    variables: { input: body() },
    example: { request: { user_id: USER_ID, key: 'ai.messages', idempotency_key: 'message-42' } },
  },
];

const features: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/features',
    status: [200],
    summary: 'List features',
    document: `query EntitlementFeatures($archived: Boolean, $productId: ID, $first: Int, $after: String) {
      result: entitlementFeatures(archived: $archived, productId: $productId, first: $first, after: $after) { nodes { ${FEATURE} } ${PAGE} }
    }`,
    variables: { archived: query('archived'), productId: query('product_id') },
  },
  {
    method: 'POST',
    path: '/v1/admin/features',
    status: [201],
    location: '/v1/admin/features/{key}',
    summary: 'Make a feature',
    document: `mutation CreateEntitlementFeature($input: CreateEntitlementFeatureInput!) { result: createEntitlementFeature(input: $input) { ${FEATURE} } }`,
    variables: { input: body() },
    problems: { 409: 'The key is taken, in use or archived' },
    example: {
      request: { key: 'ai.images', name: 'Images', kind: 'metered', unit: 'image', default_value: 5, usage_reset: 'calendar_month' },
    },
  },
  {
    method: 'GET',
    path: '/v1/admin/features/{key}',
    status: [200],
    summary: 'Read a feature',
    document: `query EntitlementFeature($key: String!) { result: entitlementFeature(key: $key) { ${FEATURE} } }`,
    variables: { key: path('key') },
  },
  {
    method: 'PATCH',
    path: '/v1/admin/features/{key}',
    status: [200],
    summary: 'Change a feature',
    document: `mutation UpdateEntitlementFeature($input: UpdateEntitlementFeatureInput!) { result: updateEntitlementFeature(input: $input) { ${FEATURE} } }`,
    variables: { input: input({ path: ['key'] }) },
    problems: { 409: 'It is archived, or was changed meanwhile' },
    example: { request: { default_value: 10, version: 1 } },
  },
  {
    method: 'DELETE',
    path: '/v1/admin/features/{key}',
    status: [204],
    summary: 'Archive a feature',
    document: 'mutation ArchiveEntitlementFeature($key: String!) { result: archiveEntitlementFeature(key: $key) { key } }',
    variables: { key: path('key') },
  },
];

const overrides: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/overrides',
    status: [200],
    summary: 'List overrides and purchases',
    document: `query EntitlementOverrides($userId: ID, $featureKey: String, $reference: String, $state: EntitlementOverrideState, $first: Int, $after: String) {
      result: entitlementOverrides(userId: $userId, featureKey: $featureKey, reference: $reference, state: $state, first: $first, after: $after) {
        nodes { ${OVERRIDE} } ${PAGE}
      }
    }`,
    variables: {
      userId: query('user_id'),
      featureKey: query('feature_key'),
      reference: query('reference'),
      state: query('state'),
    },
  },
  {
    method: 'POST',
    path: '/v1/admin/overrides',
    status: [201, 200],
    location: '/v1/admin/overrides/{id}',
    summary: 'Allow or deny a feature to a user',
    document: `mutation CreateEntitlementOverride($input: CreateEntitlementOverrideInput!) {
      result: createEntitlementOverride(input: $input) { ${OVERRIDE} }
    }`,
    variables: { input: body() },
    problems: { 409: 'The purchase is of another user' },
    example: { request: { user_id: USER_ID, feature_key: 'labs.discount', allow: true, reason: 'Goodwill' } },
  },
  {
    method: 'GET',
    path: '/v1/admin/overrides/{id}',
    status: [200],
    summary: 'Read an override',
    document: `query EntitlementOverride($id: ID!) { result: entitlementOverride(id: $id) { ${OVERRIDE} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'DELETE',
    path: '/v1/admin/overrides/{id}',
    status: [204],
    summary: 'End an override now',
    document: 'mutation RevokeEntitlementOverride($id: ID!) { result: revokeEntitlementOverride(id: $id) { id } }',
    variables: { id: path('id') },
  },
];

const support: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/entitlements/{user_id}/explain/{feature_key}',
    status: [200],
    summary: 'Why a user may use a feature, or may not',
    document: `query ExplainEntitlement($userId: ID!, $key: String!) {
      result: explainEntitlement(userId: $userId, key: $key) {
        userId key at check { ${CHECK} } feature { ${FEATURE} } entitlement { access reason value limit used remaining resetsAt source endsAt }
        rules { rule access decisive overrides { ${OVERRIDE} } } snapshotVersion
      }
    }`,
    variables: { userId: path('user_id'), key: path('feature_key') },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-clock',
    status: [200],
    summary: "Move this service's manual clock (development and tests)",
    document: 'mutation SetEntitlementsClock($input: SetClockInput!) { result: setEntitlementsClock(input: $input) { now } }',
    variables: { input: body() },
  },
];

/** Routes of the entitlements service. Source: contracts/entitlements.md, section 4. */
const table: RouteTable = { service: 'entitlements', routes: [...answers, ...usage, ...features, ...overrides, ...support] };
export default table;
