import { get, patch, post, put, type Route, type RouteTable } from '../route.js';

const TICK = 'id trigger status startedAt finishedAt errorClass phases { phase status counts durationMs }';
const METRIC = 'metric value details computedAt';
const PROPOSAL = `id kind status policyKind policyKey brandId registryId metric threshold observed evidence suggestedVersion reviewerId
  notes raisedAt reviewedAt appliedVersion appliedRegistryId appliedBy appliedAt tickId version`;
const VERSION = `id policyKind policyKey brandId version status parameters rankers artifactSha256 artifactErasedAt
  training { dataFrom dataTo decisions outcomes seed codeRevision erasuresHonouredUpTo } offline parentVersion notes createdBy createdAt
  championedAt retiredAt`;
const POLICY = `id policyKind policyKey brandId outcomeMetric rewardMap maturationDays attribution epsilon controlShare segmentKeys
  contextSchema candidateSchema guardrails { rule params } safeTag status createdAt version`;
const RANKED = '{ candidateId rank score propensity }';
const VIOLATIONS = '{ candidateId rule phase }';
const ANSWER = `id decisionKey status stage ranker policyVersion registryId arm ranked ${RANKED} servedCandidateId propensity
  predictedOutcome violations ${VIOLATIONS} fallback decidedAt activatedAt maturesAt`;
const DECISION = `${ANSWER} policyKind policyKey brandId entityType entityId context candidates shadowPredictions outcomeMetric
  outcomeCodes closedAt seed outcome { id metric label reward sourceType sourceEventId occurredAt joinedAt }`;
const EVALUATION = `id policyId candidateVersion targetVersion estimators { name value se ciLow ciHigh }
  liftOverTarget { value ciLow ciHigh } ess maxWeight n unjoined supportViolations windowFrom windowTo state createdAt`;
const TRAINING = 'id policyId rankers dataFrom dataTo seed status reason registryId createdAt finishedAt';
const VECTOR = 'id entityType entityId featureSet version values asOf';
const GATE = 'to met reasons';
const EXPLANATION = `decisionId ranker seed draw ranked ${RANKED} servedCandidateId context reproduced`;

const aUser = '0190b3a0-0000-7000-8000-0000000000a1';
const aPolicy = '0190b3a0-0000-7000-8000-0000000f0001';

const loop: Route[] = [
  post('/v1/loop/tick', 'runLoopTick', TICK, 'Run Monitor, Analyze and Propose now', { problems: { 409: 'Another tick is running' } }),
  get('/v1/loop/meta-metrics', 'metaMetrics', METRIC, 'Metrics of the loop itself, the newest per metric and scope'),
  get('/v1/loop/ticks', 'loopTicks', TICK, 'List ticks'),
  get('/v1/loop/ticks/{id}', 'loopTick', TICK, 'Read a tick'),
  get('/v1/loop/stage', 'intelligenceStage', `stage flagValue since next { ${GATE} }`, 'The stage in force, and the gate of the next one'),
  get('/v1/loop/stage/gate', 'stageGate', GATE, 'Whether a stage may be advanced to'),
];

const governance: Route[] = [
  get('/v1/governance/proposals', 'loopProposals', PROPOSAL, 'List proposals; `?status=raised` is the review queue'),
  get('/v1/governance/proposals/{id}', 'loopProposal', PROPOSAL, 'Read a proposal'),
  post(
    '/v1/governance/proposals/{id}/approve',
    'approveLoopProposal',
    PROPOSAL,
    'Agree with a proposal; nothing that is served changes yet',
    { problems: { 409: 'It is not raised' }, example: { request: { reviewer_id: 'staff-1', notes: 'Checked with the clinical team' } } },
  ),
  post('/v1/governance/proposals/{id}/reject', 'rejectLoopProposal', PROPOSAL, 'Refuse a proposal', {
    problems: { 409: 'It is not raised' },
    example: { request: { reviewer_id: 'staff-1' } },
  }),
  post('/v1/governance/proposals/{id}/apply', 'applyLoopProposal', PROPOSAL, 'Make a version the champion, as approved', {
    problems: { 409: 'It is not approved, or the version is champion already or its artefact erased' },
    example: { request: { version: 2 } },
  }),
];

const registry: Route[] = [
  post('/v1/registry/{id}/promote', 'promoteRegistryVersion', VERSION, 'Make a version the champion', {
    problems: { 409: 'It is champion already, or its artefact is erased' },
    example: { request: { actor_id: 'staff-1', reason: 'Won the comparison' } },
  }),
  post('/v1/registry/rollback', 'rollbackRegistry', VERSION, 'Make a prior champion the champion again', {
    problems: { 409: 'It is champion already, never was, or its artefact is erased' },
    example: { request: { policy_kind: 'recommendation', policy_key: 'next_retest_panel', brand_id: null, to_version: 1 } },
  }),
  get('/v1/registry', 'registryVersions', VERSION, 'List versions'),
  post('/v1/registry', 'registerRegistryVersion', VERSION, 'Register parameters as a candidate', {
    status: 201,
    example: { request: { policy_id: aPolicy, parameters: { rules: { rules: [], denylist: [] } } } },
  }),
  get('/v1/registry/{id}', 'registryVersion', VERSION, 'Read a version'),
  post('/v1/registry/{id}/evaluate', 'evaluateRegistryVersion', EVALUATION, 'What a version would have earned on logged decisions', {
    status: 201,
    location: '/v1/evaluations/{id}',
    problems: { 409: 'The artefact of a version is erased' },
    example: { request: { target_version: 1 } },
  }),
];

const policies: Route[] = [
  get('/v1/policies', 'rankingPolicies', POLICY, 'List ranking policies'),
  post('/v1/policies', 'createRankingPolicy', POLICY, 'Make a ranking policy', {
    status: 201,
    example: { request: { policy_kind: 'nudge', policy_key: 'morning', outcome_metric: 'retest' } },
  }),
  patch('/v1/policies/{id}', 'updateRankingPolicy', POLICY, 'Change a ranking policy', {
    problems: { 409: 'It was changed meanwhile, or its reward map is fixed' },
    example: { request: { version: 1, epsilon: 0.1 } },
  }),
];

const ledger: Route[] = [
  post('/v1/rank', 'rankRecommendations', ANSWER, 'Rank candidates and log the decision', {
    status: [201, 200],
    location: '/v1/decisions/{id}',
    problems: { 422: 'The decision key was used with another body' },
    example: {
      request: {
        decision_key: 'home:2026-11-21:u1',
        policy_kind: 'recommendation',
        policy_key: 'next_retest_panel',
        entity: { type: 'user', id: aUser },
        context: { age_band: '40_49', goal: 'heart' },
        candidates: [{ id: 'panel_lipids', features: { cost_tier: 1 }, tags: ['informational'], codes: ['ldl_c'] }],
      },
    },
  }),
  post('/v1/decisions/{id}/activate', 'activateDecision', DECISION, 'A decision that was made ahead is shown now', {
    body: true,
    problems: { 409: 'It is closed, or older than 24 hours' },
  }),
  post('/v1/decisions/{id}/outcome', 'recordDecisionOutcome', DECISION, 'Record what became of a decision', {
    status: [201, 200],
    location: '/v1/decisions/{id}',
    problems: { 409: 'It is closed' },
    example: { request: { label: 'improved', source_event_id: 'study-17' } },
  }),
  get('/v1/decisions', 'loopDecisions', DECISION, 'List decisions'),
  get('/v1/decisions/{id}', 'loopDecision', DECISION, 'Read a decision'),
  get('/v1/decisions/{id}/explain', 'explainDecision', EXPLANATION, 'Work a decision out again, bit for bit', {
    problems: { 409: 'The artefact of its version is erased' },
  }),
];

const learning: Route[] = [
  get('/v1/evaluations/{id}', 'offPolicyEvaluation', EVALUATION, 'Read an off-policy evaluation'),
  post('/v1/evaluations/compute', 'computeEvaluation.result', null, 'Evaluate given rows; nothing is stored', {
    example: { request: { kind: 'calibration', rows: [{ predicted: 0.3, reward: 1 }] } },
  }),
  post('/v1/training-runs', 'startTraining', TRAINING, 'Train on joined decisions; the result is a candidate', {
    status: 202,
    problems: { 409: 'A training of this policy is running' },
    example: { request: { policy_id: aPolicy, rankers: ['popularity', 'thompson'], seed: 1 } },
  }),
  get('/v1/training-runs/{id}', 'trainingRun', TRAINING, 'Read a training'),
  get('/v1/features/{entity_type}/{entity_id}/{feature_set}', 'featureVector', VECTOR, "Read an entity's feature vector"),
  put('/v1/features/{entity_type}/{entity_id}/{feature_set}', 'putFeatureVector', VECTOR, "Store an entity's feature vector", {
    problems: { 409: 'A newer vector is stored' },
    example: { request: { values: { chats: 3 }, as_of: '2026-11-21T06:00:00.000Z' } },
  }),
];

const administration: Route[] = [
  post('/v1/admin/erasure', 'eraseEntity', 'entityType entityId outcome records', 'Delete everything about an entity', {
    example: { request: { entity_type: 'user', entity_id: aUser } },
  }),
  post('/v1/admin/test-clock', 'setIntelligenceClock', 'now', "Move this service's manual clock (development and tests)"),
  post('/v1/admin/test-flags', 'setIntelligenceTestFlags', 'key value', 'Override a flag in this service (development and tests)'),
];

/** Routes of the intelligence service. Source: contracts/intelligence.md, section 4. */
const table: RouteTable = {
  service: 'intelligence',
  routes: [...loop, ...governance, ...registry, ...policies, ...ledger, ...learning, ...administration],
};
export default table;
