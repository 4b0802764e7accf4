import { del, get, patch, post, type Exceptions, type Route } from '../../route.js';

const EVALUATION = 'key value variant reason errorCode revision';
const SNAPSHOT = `revision
  flags { key variants offVariant defaultRule rules prerequisites enabled killed archived failClosed salt revision }`;

const FLAG = `key description kind valueType variants { name value } offVariant defaultRule { variant rollout { variant basisPoints } }
  rules { position conditions { attribute operator values } serve { variant } rollout { variant basisPoints } }
  prerequisites { key variant } enabled killed failClosed protected guard salt permanent expiresOn archivedAt owner readers revision
  changedAt`;

const WAITING = 'id flagKey before after reason requestedBy status applyAt expiresAt approvals { by at } createdAt';
const CHANGE = `${WAITING} revision`;

/** The status tells the two apart; a change that waits has made no revision. */
const OUTCOME = `... on FeatureFlag { ${FLAG} } ... on FlagChange { ${WAITING} }`;
const EXPLANATION = `evaluation { ${EVALUATION} } bucket enabled killed prerequisites { key needed actual met }
  rules { position matched decided conditions { attribute operator holds absent } variant rollout { variant basisPoints } } defaultDecided`;
const STALE = 'flag { key kind owner expiresOn changedAt revision } reasons';

const MAY_WAIT = { status: [200, 202], location: '/v1/admin/flags/{key}/changes' } as const satisfies Exceptions;

const aBrand = '0190b3a0-0000-7000-8000-000000000001';

const evaluation: Route[] = [
  post('/v1/flags/evaluate', 'evaluateFlags', EVALUATION, 'Evaluate flags for a brand and a user', {
    example: {
      request: {
        keys: ['feature.clinical.retest-prompt', 'feature.nope'],
        brand_id: aBrand,
        user_id: '0190b3a0-0000-7000-8000-0000000000a1',
      },
      response: {
        data: [
          { key: 'feature.clinical.retest-prompt', value: true, variant: 'on', reason: 'split', error_code: null, revision: 12 },
          { key: 'feature.nope', value: null, variant: null, reason: 'error', error_code: 'flag_not_found', revision: null },
        ],
      },
    },
  }),
  get('/v1/flags/snapshot', 'flagSnapshot', SNAPSHOT, 'Read the flags that concern the calling service, to evaluate them in process', {
    query: { revision: 'knownRevision' },
    omit: ['ifRevisionNot'], // REST has ETag and If-None-Match
    etag: true,
  }),
  post('/v1/flags/usage', 'reportFlagUsage', 'accepted', 'Add to the counters of evaluations', {
    status: 202,
    example: {
      request: { counts: [{ flag: 'feature.clinical.retest-prompt', variant: 'on', reason: 'SPLIT', brand_id: aBrand, count: 120 }] },
      response: { accepted: 1 },
    },
  }),
];

const administration: Route[] = [
  get('/v1/admin/flags', 'featureFlags', FLAG, 'List flags'),
  get('/v1/admin/flags/{key}', 'featureFlag', FLAG, 'Read a flag'),
  post('/v1/admin/flags/{key}/kill', 'killFeatureFlag', FLAG, 'Serve the off variant of a flag to everyone at once', {
    example: { request: { reason: 'error rate' } },
  }),
  post('/v1/admin/flags', 'createFeatureFlag', FLAG, 'Create a flag', {
    status: 201,
    problems: { 409: 'The key was used before' },
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
  }),
  patch(
    '/v1/admin/flags/{key}',
    'changeFeatureFlag',
    OUTCOME,
    'Change a flag; 202 with the change when it waits for an approval or its time',
    {
      spread: 'patch',
      ...MAY_WAIT,
      problems: { 409: 'revision_conflict, gate_not_met, step_too_large, or archived' },
      example: {
        request: {
          enabled: true,
          rules: [
            {
              conditions: [{ attribute: 'brand', operator: 'in', values: [aBrand] }],
              rollout: [{ variant: 'on', basis_points: 2500 }],
            },
          ],
          expected_revision: 1,
          reason: '25 % of one brand',
          apply_at: null,
        },
      },
    },
  ),
  del('/v1/admin/flags/{key}', 'archiveFeatureFlag', OUTCOME, 'Archive a flag; its key is never used again', {
    ...MAY_WAIT,
    problems: { 409: 'A flag of the platform itself, or a prerequisite of another' },
  }),
  post('/v1/admin/flags/{key}/unkill', 'unkillFeatureFlag', OUTCOME, 'Let the rules of a killed flag decide again', {
    ...MAY_WAIT,
    problems: { 409: 'gate_not_met, step_too_large, or archived' },
    example: { request: { reason: 'the error is mended' } },
  }),
  get('/v1/admin/flags/{key}/changes', 'flagChanges', CHANGE, 'List the changes of a flag, newest first'),
  post('/v1/admin/flag-changes/{id}/approve', 'approveFlagChange', CHANGE, "Approve somebody else's change of a flag", {
    problems: { 403: 'The own request, or an approval given already', 409: 'Not pending, gate_not_met, or step_too_large' },
  }),
  post('/v1/admin/flag-changes/{id}/reject', 'rejectFlagChange', CHANGE, 'Reject a change of a flag', { problems: { 409: 'Not pending' } }),
  get('/v1/admin/flags/{key}/explain', 'explainFlag', EXPLANATION, 'Explain why a flag has its value for a brand and a user'),
  get('/v1/admin/flags/stale', 'staleFlags', STALE, 'List flags that have done their work'),
];

export default [...evaluation, ...administration];
