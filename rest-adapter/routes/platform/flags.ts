import { bodyKey, body, input, path, query, type Route } from '../../route.js';

const FLAG = `key description kind valueType variants { name value } offVariant defaultRule { variant rollout { variant basisPoints } }
  rules { position conditions { attribute operator values } serve { variant } rollout { variant basisPoints } }
  prerequisites { key variant } enabled killed failClosed protected guard salt permanent expiresOn archivedAt owner readers revision changedAt`;

const WAITING = 'id flagKey before after reason requestedBy status applyAt expiresAt approvals { by at } createdAt';
const CHANGE = `${WAITING} revision`;

/** The status tells the two apart; a change that waits has made no revision. */
const OUTCOME = `... on FeatureFlag { ${FLAG} } ... on FlagChange { ${WAITING} }`;

const routes: Route[] = [
  {
    method: 'GET',
    path: '/v1/admin/flags',
    status: [200],
    summary: 'List flags',
    document: `query FeatureFlags($protected: Boolean, $keys: [String!], $owner: String, $archived: Boolean) {
      result: featureFlags(protected: $protected, keys: $keys, owner: $owner, archived: $archived) { ${FLAG} }
    }`,
    variables: { protected: query('protected'), keys: query('keys'), owner: query('owner'), archived: query('archived') },
  },
  {
    method: 'GET',
    path: '/v1/admin/flags/{key}',
    status: [200],
    summary: 'Read a flag',
    document: `query FeatureFlag($key: String!) { result: featureFlag(key: $key) { ${FLAG} } }`,
    variables: { key: path('key') },
  },
  {
    method: 'POST',
    path: '/v1/admin/flags/{key}/kill',
    status: [200],
    summary: 'Serve the off variant of a flag to everyone at once',
    document: `mutation KillFeatureFlag($input: KillFeatureFlagInput!) { result: killFeatureFlag(input: $input) { ${FLAG} } }`,
    variables: { input: input({ path: ['key'] }) },
    example: { request: { reason: 'error rate' } },
  },
  {
    method: 'POST',
    path: '/v1/admin/flags',
    status: [201],
    location: '/v1/admin/flags/{key}',
    summary: 'Create a flag',
    document: `mutation CreateFeatureFlag($input: CreateFeatureFlagInput!) { result: createFeatureFlag(input: $input) { ${FLAG} } }`,
    variables: { input: body() },
    example: {
      request: {
        key: 'feature.shop.bundles',
        description: 'Bundle pages',
        kind: 'release',
        value_type: 'boolean',
        variants: [
          { name: 'on', value: true },
          { name: 'off', value: false },
        ],
        off_variant: 'off',
        default_rule: { variant: 'off' },
        rules: [],
        prerequisites: [],
        enabled: false,
        fail_closed: true,
        protected: false,
        permanent: false,
        expires_on: '2027-06-30',
        owner: 'commerce',
        salt: 's1',
        reason: 'first rollout',
      },
    },
    problems: { 409: 'The key was used before' },
  },
  {
    method: 'PATCH',
    path: '/v1/admin/flags/{key}',
    status: [200, 202],
    location: '/v1/admin/flags/{key}/changes',
    summary: 'Change a flag; 202 with the change when it waits for an approval or its time',
    document: `mutation ChangeFeatureFlag($key: String!, $description: String, $kind: FeatureFlagKind, $variants: [FlagVariantInput!], $offVariant: String,
      $defaultRule: FlagServeInput, $rules: [FlagRuleInput!], $prerequisites: [FlagPrerequisiteInput!], $enabled: Boolean, $failClosed: Boolean,
      $protected: Boolean, $permanent: Boolean, $expiresOn: Date, $owner: String, $readers: [String!], $expectedRevision: Int!, $reason: String!, $applyAt: DateTime) {
      result: changeFeatureFlag(input: { key: $key, expectedRevision: $expectedRevision, reason: $reason, applyAt: $applyAt, patch: {
        description: $description, kind: $kind, variants: $variants, offVariant: $offVariant, defaultRule: $defaultRule, rules: $rules,
        prerequisites: $prerequisites, enabled: $enabled, failClosed: $failClosed, protected: $protected, permanent: $permanent,
        expiresOn: $expiresOn, owner: $owner, readers: $readers } }) { ${OUTCOME} }
    }`,
    variables: {
      key: path('key'),
      description: bodyKey('description'),
      kind: bodyKey('kind'),
      variants: bodyKey('variants'),
      offVariant: bodyKey('off_variant'),
      defaultRule: bodyKey('default_rule'),
      rules: bodyKey('rules'),
      prerequisites: bodyKey('prerequisites'),
      enabled: bodyKey('enabled'),
      failClosed: bodyKey('fail_closed'),
      protected: bodyKey('protected'),
      permanent: bodyKey('permanent'),
      expiresOn: bodyKey('expires_on'),
      owner: bodyKey('owner'),
      readers: bodyKey('readers'),
      expectedRevision: bodyKey('expected_revision'),
      reason: bodyKey('reason'),
      applyAt: bodyKey('apply_at'),
    },
    example: {
      request: {
        enabled: true,
        rules: [
          {
            conditions: [{ attribute: 'brand', operator: 'in', values: ['0190b3a0-0000-7000-8000-000000000001'] }],
            rollout: [{ variant: 'on', basis_points: 2500 }],
          },
        ],
        expected_revision: 1,
        reason: '25 % of one brand',
        apply_at: null,
      },
    },
    problems: { 409: 'revision_conflict, gate_not_met, step_too_large, or archived' },
  },
  {
    method: 'DELETE',
    path: '/v1/admin/flags/{key}',
    status: [200, 202],
    location: '/v1/admin/flags/{key}/changes',
    summary: 'Archive a flag; its key is never used again',
    document: `mutation ArchiveFeatureFlag($input: ArchiveFeatureFlagInput!) { result: archiveFeatureFlag(input: $input) { ${OUTCOME} } }`,
    variables: { input: input({ body: false, path: ['key'], query: ['reason'] }) },
    problems: { 409: 'A flag of the platform itself, or a prerequisite of another' },
  },
  {
    method: 'POST',
    path: '/v1/admin/flags/{key}/unkill',
    status: [200, 202],
    location: '/v1/admin/flags/{key}/changes',
    summary: 'Let the rules of a killed flag decide again',
    document: `mutation UnkillFeatureFlag($input: UnkillFeatureFlagInput!) { result: unkillFeatureFlag(input: $input) { ${OUTCOME} } }`,
    variables: { input: input({ path: ['key'] }) },
    example: { request: { reason: 'the error is mended' } },
    problems: { 409: 'gate_not_met, step_too_large, or archived' },
  },
  {
    method: 'GET',
    path: '/v1/admin/flags/{key}/changes',
    status: [200],
    summary: 'List the changes of a flag, newest first',
    document: `query FlagChanges($key: String!, $status: FlagChangeStatus, $first: Int, $after: String) {
      result: flagChanges(key: $key, status: $status, first: $first, after: $after) { nodes { ${CHANGE} } pageInfo { endCursor hasNextPage } }
    }`,
    variables: { key: path('key'), status: query('status') },
  },
  {
    method: 'POST',
    path: '/v1/admin/flag-changes/{id}/approve',
    status: [200],
    summary: "Approve somebody else's change of a flag",
    document: `mutation ApproveFlagChange($id: ID!) { result: approveFlagChange(id: $id) { ${CHANGE} } }`,
    variables: { id: path('id') },
    problems: { 403: 'The own request, or an approval given already', 409: 'Not pending, gate_not_met, or step_too_large' },
  },
  {
    method: 'POST',
    path: '/v1/admin/flag-changes/{id}/reject',
    status: [200],
    summary: 'Reject a change of a flag',
    document: `mutation RejectFlagChange($input: RejectFlagChangeInput!) { result: rejectFlagChange(input: $input) { ${CHANGE} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'Not pending' },
  },
  {
    method: 'GET',
    path: '/v1/admin/flags/{key}/explain',
    status: [200],
    summary: 'Explain why a flag has its value for a brand and a user',
    document: `query ExplainFlag($key: String!, $brandId: ID, $userId: ID, $country: String, $locale: String, $role: [String!], $tier: String, $client: String, $appVersion: String) {
      result: explainFlag(key: $key, brandId: $brandId, userId: $userId, country: $country, locale: $locale, role: $role, tier: $tier, client: $client, appVersion: $appVersion) {
        evaluation { key value variant reason errorCode revision } bucket enabled killed prerequisites { key needed actual met }
        rules { position matched decided conditions { attribute operator holds absent } variant rollout { variant basisPoints } } defaultDecided } }`,
    variables: {
      key: path('key'),
      brandId: query('brand_id'),
      userId: query('user_id'),
      country: query('country'),
      locale: query('locale'),
      role: query('role'),
      tier: query('tier'),
      client: query('client'),
      appVersion: query('app_version'),
    },
  },
  {
    method: 'GET',
    path: '/v1/admin/flags/stale',
    status: [200],
    summary: 'List flags that have done their work',
    document: 'query StaleFlags { result: staleFlags { flag { key kind owner expiresOn changedAt revision } reasons } }',
  },
];

export default routes;
