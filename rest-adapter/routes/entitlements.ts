import { del, get, patch, post, put, type Route, type RouteTable } from '../route.js';

const ENTITLEMENTS = `userId features { key access reason value limit used remaining resetsAt source endsAt } version computedAt
  validUntil`;
const CHECK = 'key allowed reason remaining resetsAt validUntil isFallback upgradeTo { id key name }';
const FEATURE = 'key name kind unit failMode defaultValue usageReset softLimit productIds archived createdAt version';
const OVERRIDE = 'id user { id } feature { key } allow value limit startsAt endsAt state source reference reason createdBy createdAt';
const EXPLANATION = `userId key at check { ${CHECK} } feature { ${FEATURE} }
  entitlement { access reason value limit used remaining resetsAt source endsAt } rules { rule access decisive tiers { id } overrides { ${OVERRIDE} } }
  snapshotVersion`;

const aUser = '0190b3a0-0000-7000-8000-0000000000a1';

const answers: Route[] = [
  get('/v1/entitlements/me', 'entitlements', ENTITLEMENTS, 'What one may use oneself', { as: 'myEntitlements', etag: true }),
  get('/v1/entitlements', 'entitlements', ENTITLEMENTS, 'What a user may use', { etag: true }),
  get('/v1/entitlements/me/check/{feature_key}', 'checkEntitlement', CHECK, 'Whether one may use a feature oneself', {
    as: 'checkMyEntitlement',
    path: { feature_key: 'key' },
  }),
  get('/v1/entitlements/check/{feature_key}', 'checkEntitlement', CHECK, 'Whether a user may use a feature', {
    path: { feature_key: 'key' },
  }),
  post('/v1/entitlements/check', 'checkEntitlements', `userId checks { ${CHECK} }`, 'Whether many users may use many features', {
    example: { request: { user_ids: [aUser], keys: ['labs.discount', 'ai.messages'] } },
  }),
];

const usage: Route[] = [
  post('/v1/entitlements/usage', 'consumeEntitlement', CHECK, 'Count a use of a metered feature', {
    problems: { 409: 'The limit is reached, or the feature may not be used; nothing is counted' },
    example: { request: { user_id: aUser, key: 'ai.messages', amount: 1, idempotency_key: 'message-42' } },
  }),
  post('/v1/entitlements/usage/return', 'returnEntitlement', CHECK, 'Take a use back', {
    example: { request: { user_id: aUser, key: 'ai.messages', idempotency_key: 'message-42' } },
  }),
];

const features: Route[] = [
  get('/v1/admin/features', 'entitlementFeatures', FEATURE, 'List features'),
  post('/v1/admin/features', 'createEntitlementFeature', FEATURE, 'Make a feature', {
    status: 201,
    problems: { 409: 'The key is taken, in use or archived' },
    example: {
      request: { key: 'ai.images', name: 'Images', kind: 'metered', unit: 'image', default_value: 5, usage_reset: 'calendar_month' },
    },
  }),
  get('/v1/admin/features/{key}', 'entitlementFeature', FEATURE, 'Read a feature'),
  patch('/v1/admin/features/{key}', 'updateEntitlementFeature', FEATURE, 'Change a feature', {
    problems: { 409: 'It is archived, or was changed meanwhile' },
    example: { request: { default_value: 10, version: 1 } },
  }),
  del('/v1/admin/features/{key}', 'archiveEntitlementFeature', 'key', 'Archive a feature'),
];

const overrides: Route[] = [
  get('/v1/admin/overrides', 'entitlementOverrides', OVERRIDE, 'List overrides and purchases'),
  post('/v1/admin/overrides', 'createEntitlementOverride', OVERRIDE, 'Allow or deny a feature to a user', {
    status: [201, 200],
    problems: { 409: 'The purchase is of another user' },
    example: { request: { user_id: aUser, feature_key: 'labs.discount', allow: true, reason: 'Goodwill' } },
  }),
  get('/v1/admin/overrides/{id}', 'entitlementOverride', OVERRIDE, 'Read an override'),
  del('/v1/admin/overrides/{id}', 'revokeEntitlementOverride', 'id', 'End an override now'),
];

const TIER_FEATURE = 'tierId feature { key name kind } value limit softLimit reset keepWhileSuspended';
const STATS = 'entries hits misses staleServed evictions epoch oldestSeconds';
const ENTITLEMENT = 'key access reason value limit used remaining resetsAt source endsAt';

const tiers: Route[] = [
  get('/v1/admin/tiers/{tier_id}/features', 'tierFeatures', TIER_FEATURE, 'List what a tier gives'),
  put('/v1/admin/tiers/{tier_id}/features/{key}', 'setTierFeature', TIER_FEATURE, 'Give a tier a feature', {
    problems: { 503: 'Membership, whose tier it is, is not available' },
    example: { request: { limit: 100, reset: 'membership_period' } },
  }),
  del('/v1/admin/tiers/{tier_id}/features/{key}', 'removeTierFeature', 'tierId', 'Take a feature from a tier'),
  post(
    '/v1/admin/entitlements/{user_id}/simulate',
    'simulateTierChange',
    `gained { ${ENTITLEMENT} } lost { ${ENTITLEMENT} } changed { key from { ${ENTITLEMENT} } to { ${ENTITLEMENT} } }`,
    'What another tier would change for a user',
    { example: { request: { tier_id: '0190b3a0-0000-7000-8000-0000000d0012' } } },
  ),
];

const cache: Route[] = [
  get('/v1/admin/cache', 'entitlementCacheStats', STATS, 'What the answering process keeps'),
  post('/v1/admin/cache/invalidate', 'invalidateEntitlements', STATS, 'Let answers be read anew', {
    status: 202,
    example: { request: { user_ids: [aUser] } },
  }),
  post('/v1/admin/cache/warm', 'warmEntitlements', STATS, 'Read some users before somebody asks', {
    status: 202,
    example: { request: { user_ids: [aUser] } },
  }),
];

const support: Route[] = [
  get(
    '/v1/admin/entitlements/{user_id}/explain/{feature_key}',
    'explainEntitlement',
    EXPLANATION,
    'Why a user may use a feature, or may not',
    { path: { feature_key: 'key' } },
  ),
  post('/v1/admin/test-clock', 'setEntitlementsClock', 'now', "Move this service's manual clock (development and tests)"),
];

/** Routes of the entitlements service. Source: contracts/entitlements.md, section 4. */
const table: RouteTable = {
  service: 'entitlements',
  routes: [...answers, ...usage, ...features, ...overrides, ...tiers, ...cache, ...support],
};
export default table;
