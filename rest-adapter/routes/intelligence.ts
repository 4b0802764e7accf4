import { body, input, path, query, type Route, type RouteTable } from '../route.js';

const PAGE = 'pageInfo { endCursor hasNextPage }';
const TICK = 'id trigger status startedAt finishedAt errorClass phases { phase status counts durationMs }';
const METRIC = 'metric value details computedAt';
const PROPOSAL = `id kind status policyKind policyKey brandId registryId metric threshold observed evidence suggestedVersion reviewerId notes raisedAt reviewedAt appliedVersion
  appliedRegistryId appliedBy appliedAt tickId version`;
const VERSION = `id policyKind policyKey brandId version status parameters rankers artifactSha256 artifactErasedAt
  training { dataFrom dataTo decisions outcomes seed codeRevision erasuresHonouredUpTo } offline parentVersion notes createdBy createdAt championedAt retiredAt`;
const POLICY = `id policyKind policyKey brandId outcomeMetric rewardMap maturationDays attribution epsilon controlShare segmentKeys contextSchema candidateSchema
  guardrails { rule params } safeTag status createdAt version`;
const RANKED = '{ candidateId rank score propensity }';
const VIOLATIONS = '{ candidateId rule phase }';
const ANSWER = `id decisionKey status stage ranker policyVersion registryId arm ranked ${RANKED} servedCandidateId propensity predictedOutcome violations ${VIOLATIONS} fallback
  decidedAt activatedAt maturesAt`;
const DECISION = `${ANSWER} policyKind policyKey brandId entityType entityId context candidates shadowPredictions outcomeMetric outcomeCodes closedAt seed
  outcome { id metric label reward sourceType sourceEventId occurredAt joinedAt }`;
const EVALUATION = `id policyId candidateVersion targetVersion estimators { name value se ciLow ciHigh } liftOverTarget { value ciLow ciHigh } ess maxWeight n unjoined
  supportViolations windowFrom windowTo state createdAt`;
const TRAINING = 'id policyId rankers dataFrom dataTo seed status reason registryId createdAt finishedAt';
const VECTOR = 'id entityType entityId featureSet version values asOf';
const GATE = 'to met reasons';

const A_USER = '0190b3a0-0000-7000-8000-0000000000a1';
const A_POLICY = '0190b3a0-0000-7000-8000-0000000f0001';
const ASKED_POLICY = { policyKind: query('policy_kind'), policyKey: query('policy_key'), brandId: query('brand_id') };
const WHEN = { from: query('from'), to: query('to') };

const loop: Route[] = [
  {
    method: 'POST',
    path: '/v1/loop/tick',
    status: [200],
    summary: 'Run Monitor, Analyze and Propose now',
    document: `mutation RunLoopTick { result: runLoopTick { ${TICK} } }`,
    problems: { 409: 'Another tick is running' },
  },
  {
    method: 'GET',
    path: '/v1/loop/meta-metrics',
    status: [200],
    summary: 'Metrics of the loop itself, the newest per metric and scope',
    document: `query MetaMetrics($metric: String, $policyKind: String, $policyKey: String, $brandId: ID, $policyVersion: Int, $from: DateTime, $to: DateTime, $history: Boolean, $first: Int, $after: String) {
      result: metaMetrics(metric: $metric, policyKind: $policyKind, policyKey: $policyKey, brandId: $brandId, policyVersion: $policyVersion, from: $from, to: $to, history: $history, first: $first, after: $after) {
        nodes { ${METRIC} } ${PAGE}
      }
    }`,
    variables: { metric: query('metric'), ...ASKED_POLICY, policyVersion: query('policy_version'), ...WHEN, history: query('history') },
  },
  {
    method: 'GET',
    path: '/v1/loop/ticks',
    status: [200],
    summary: 'List ticks',
    document: `query LoopTicks($first: Int, $after: String) { result: loopTicks(first: $first, after: $after) { nodes { ${TICK} } ${PAGE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/loop/ticks/{id}',
    status: [200],
    summary: 'Read a tick',
    document: `query LoopTick($id: ID!) { result: loopTick(id: $id) { ${TICK} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'GET',
    path: '/v1/loop/stage',
    status: [200],
    summary: 'The stage in force, and the gate of the next one',
    document: `query IntelligenceStage { result: intelligenceStage { stage flagValue since next { ${GATE} } } }`,
  },
  {
    method: 'GET',
    path: '/v1/loop/stage/gate',
    status: [200],
    summary: 'Whether a stage may be advanced to',
    document: `query StageGate($to: IntelligenceStage!) { result: stageGate(to: $to) { ${GATE} } }`,
    variables: { to: query('to') },
  },
];

const governance: Route[] = [
  {
    method: 'GET',
    path: '/v1/governance/proposals',
    status: [200],
    summary: 'List proposals; `?status=raised` is the review queue',
    document: `query LoopProposals($status: LoopProposalStatus, $policyKind: String, $policyKey: String, $metric: String, $first: Int, $after: String) {
      result: loopProposals(status: $status, policyKind: $policyKind, policyKey: $policyKey, metric: $metric, first: $first, after: $after) { nodes { ${PROPOSAL} } ${PAGE} }
    }`,
    variables: { status: query('status'), policyKind: query('policy_kind'), policyKey: query('policy_key'), metric: query('metric') },
  },
  {
    method: 'GET',
    path: '/v1/governance/proposals/{id}',
    status: [200],
    summary: 'Read a proposal',
    document: `query LoopProposal($id: ID!) { result: loopProposal(id: $id) { ${PROPOSAL} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/governance/proposals/{id}/approve',
    status: [200],
    summary: 'Agree with a proposal; nothing that is served changes yet',
    document: `mutation ApproveLoopProposal($input: ReviewLoopProposalInput!) { result: approveLoopProposal(input: $input) { ${PROPOSAL} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is not raised' },
    example: { request: { reviewer_id: 'staff-1', notes: 'Checked with the clinical team' } },
  },
  {
    method: 'POST',
    path: '/v1/governance/proposals/{id}/reject',
    status: [200],
    summary: 'Refuse a proposal',
    document: `mutation RejectLoopProposal($input: ReviewLoopProposalInput!) { result: rejectLoopProposal(input: $input) { ${PROPOSAL} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is not raised' },
    example: { request: { reviewer_id: 'staff-1' } },
  },
  {
    method: 'POST',
    path: '/v1/governance/proposals/{id}/apply',
    status: [200],
    summary: 'Make a version the champion, as approved',
    document: `mutation ApplyLoopProposal($input: ApplyLoopProposalInput!) { result: applyLoopProposal(input: $input) { ${PROPOSAL} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is not approved, or the version is champion already or its artefact erased' },
    example: { request: { version: 2 } },
  },
];

const registry: Route[] = [
  {
    method: 'POST',
    path: '/v1/registry/{id}/promote',
    status: [200],
    summary: 'Make a version the champion',
    document: `mutation PromoteRegistryVersion($input: PromoteRegistryVersionInput!) { result: promoteRegistryVersion(input: $input) { ${VERSION} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is champion already, or its artefact is erased' },
    example: { request: { actor_id: 'staff-1', reason: 'Won the comparison' } },
  },
  {
    method: 'POST',
    path: '/v1/registry/rollback',
    status: [200],
    summary: 'Make a prior champion the champion again',
    document: `mutation RollbackRegistry($input: RollbackRegistryInput!) { result: rollbackRegistry(input: $input) { ${VERSION} } }`,
    variables: { input: body() },
    problems: { 409: 'It is champion already, never was, or its artefact is erased' },
    example: { request: { policy_kind: 'recommendation', policy_key: 'next_retest_panel', brand_id: null, to_version: 1 } },
  },
  {
    method: 'GET',
    path: '/v1/registry',
    status: [200],
    summary: 'List versions',
    document: `query RegistryVersions($policyKind: String, $policyKey: String, $brandId: ID, $status: RegistryStatus, $first: Int, $after: String) {
      result: registryVersions(policyKind: $policyKind, policyKey: $policyKey, brandId: $brandId, status: $status, first: $first, after: $after) { nodes { ${VERSION} } ${PAGE} }
    }`,
    variables: { ...ASKED_POLICY, status: query('status') },
  },
  {
    method: 'POST',
    path: '/v1/registry',
    status: [201],
    location: '/v1/registry/{id}',
    summary: 'Register parameters as a candidate',
    document: `mutation RegisterRegistryVersion($input: RegisterRegistryVersionInput!) { result: registerRegistryVersion(input: $input) { ${VERSION} } }`,
    variables: { input: body() },
    example: { request: { policy_id: A_POLICY, parameters: { rules: { rules: [], denylist: [] } } } },
  },
  {
    method: 'GET',
    path: '/v1/registry/{id}',
    status: [200],
    summary: 'Read a version',
    document: `query RegistryVersion($id: ID!) { result: registryVersion(id: $id) { ${VERSION} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/registry/{id}/evaluate',
    status: [201],
    location: '/v1/evaluations/{id}',
    summary: 'What a version would have earned on logged decisions',
    document: `mutation EvaluateRegistryVersion($input: EvaluateRegistryVersionInput!) { result: evaluateRegistryVersion(input: $input) { ${EVALUATION} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'The artefact of a version is erased' },
    example: { request: { target_version: 1 } },
  },
];

const policies: Route[] = [
  {
    method: 'GET',
    path: '/v1/policies',
    status: [200],
    summary: 'List ranking policies',
    document: `query RankingPolicies($policyKind: String, $policyKey: String, $first: Int, $after: String) {
      result: rankingPolicies(policyKind: $policyKind, policyKey: $policyKey, first: $first, after: $after) { nodes { ${POLICY} } ${PAGE} }
    }`,
    variables: { policyKind: query('policy_kind'), policyKey: query('policy_key') },
  },
  {
    method: 'POST',
    path: '/v1/policies',
    status: [201],
    summary: 'Make a ranking policy',
    document: `mutation CreateRankingPolicy($input: CreateRankingPolicyInput!) { result: createRankingPolicy(input: $input) { ${POLICY} } }`,
    variables: { input: body() },
    example: { request: { policy_kind: 'nudge', policy_key: 'morning', outcome_metric: 'retest' } },
  },
  {
    method: 'PATCH',
    path: '/v1/policies/{id}',
    status: [200],
    summary: 'Change a ranking policy',
    document: `mutation UpdateRankingPolicy($input: UpdateRankingPolicyInput!) { result: updateRankingPolicy(input: $input) { ${POLICY} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It was changed meanwhile, or its reward map is fixed' },
    example: { request: { version: 1, epsilon: 0.1 } },
  },
];

const ledger: Route[] = [
  {
    method: 'POST',
    path: '/v1/rank',
    status: [201, 200],
    location: '/v1/decisions/{id}',
    summary: 'Rank candidates and log the decision',
    document: `mutation RankRecommendations($input: RankInput!) { result: rankRecommendations(input: $input) { ${ANSWER} } }`,
    variables: { input: body() },
    problems: { 422: 'The decision key was used with another body' },
    example: {
      request: {
        decision_key: 'home:2026-11-21:u1',
        policy_kind: 'recommendation',
        policy_key: 'next_retest_panel',
        entity: { type: 'user', id: A_USER },
        context: { age_band: '40_49', goal: 'heart' },
        candidates: [{ id: 'panel_lipids', features: { cost_tier: 1 }, tags: ['informational'], codes: ['ldl_c'] }],
      },
    },
  },
  {
    method: 'POST',
    path: '/v1/decisions/{id}/activate',
    status: [200],
    summary: 'A decision that was made ahead is shown now',
    document: `mutation ActivateDecision($input: ActivateDecisionInput!) { result: activateDecision(input: $input) { ${DECISION} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is closed, or older than 24 hours' },
  },
  {
    method: 'POST',
    path: '/v1/decisions/{id}/outcome',
    status: [201, 200],
    location: '/v1/decisions/{id}',
    summary: 'Record what became of a decision',
    document: `mutation RecordDecisionOutcome($input: RecordDecisionOutcomeInput!) { result: recordDecisionOutcome(input: $input) { ${DECISION} } }`,
    variables: { input: input({ path: ['id'] }) },
    problems: { 409: 'It is closed' },
    example: { request: { label: 'improved', source_event_id: 'study-17' } },
  },
  {
    method: 'GET',
    path: '/v1/decisions',
    status: [200],
    summary: 'List decisions',
    document: `query LoopDecisions($entityId: ID, $policyKind: String, $policyKey: String, $status: DecisionStatus, $stage: IntelligenceStage, $from: DateTime, $to: DateTime, $first: Int, $after: String) {
      result: loopDecisions(entityId: $entityId, policyKind: $policyKind, policyKey: $policyKey, status: $status, stage: $stage, from: $from, to: $to, first: $first, after: $after) {
        nodes { ${DECISION} } ${PAGE}
      }
    }`,
    variables: {
      entityId: query('entity_id'),
      policyKind: query('policy_kind'),
      policyKey: query('policy_key'),
      status: query('status'),
      stage: query('stage'),
      ...WHEN,
    },
  },
  {
    method: 'GET',
    path: '/v1/decisions/{id}',
    status: [200],
    summary: 'Read a decision',
    document: `query LoopDecision($id: ID!) { result: loopDecision(id: $id) { ${DECISION} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'GET',
    path: '/v1/decisions/{id}/explain',
    status: [200],
    summary: 'Work a decision out again, bit for bit',
    document: `query ExplainDecision($id: ID!) { result: explainDecision(id: $id) { decisionId ranker seed draw ranked ${RANKED} servedCandidateId context reproduced } }`,
    variables: { id: path('id') },
    problems: { 409: 'The artefact of its version is erased' },
  },
];

const learning: Route[] = [
  {
    method: 'GET',
    path: '/v1/evaluations/{id}',
    status: [200],
    summary: 'Read an off-policy evaluation',
    document: `query OffPolicyEvaluation($id: ID!) { result: offPolicyEvaluation(id: $id) { ${EVALUATION} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'POST',
    path: '/v1/evaluations/compute',
    status: [200],
    summary: 'Evaluate given rows; nothing is stored',
    document: 'query ComputeEvaluation($input: ComputeEvaluationInput!) { computeEvaluation(input: $input) { result: result } }',
    variables: { input: body() },
    example: { request: { kind: 'calibration', rows: [{ predicted: 0.3, reward: 1 }] } },
  },
  {
    method: 'POST',
    path: '/v1/training-runs',
    status: [202],
    location: '/v1/training-runs/{id}',
    summary: 'Train on joined decisions; the result is a candidate',
    document: `mutation StartTraining($input: StartTrainingInput!) { result: startTraining(input: $input) { ${TRAINING} } }`,
    variables: { input: body() },
    problems: { 409: 'A training of this policy is running' },
    example: { request: { policy_id: A_POLICY, rankers: ['popularity', 'thompson'], seed: 1 } },
  },
  {
    method: 'GET',
    path: '/v1/training-runs/{id}',
    status: [200],
    summary: 'Read a training',
    document: `query TrainingRun($id: ID!) { result: trainingRun(id: $id) { ${TRAINING} } }`,
    variables: { id: path('id') },
  },
  {
    method: 'GET',
    path: '/v1/features/{entity_type}/{entity_id}/{feature_set}',
    status: [200],
    summary: "Read an entity's feature vector",
    document: `query FeatureVector($entityType: String!, $entityId: ID!, $featureSet: String!) {
      result: featureVector(entityType: $entityType, entityId: $entityId, featureSet: $featureSet) { ${VECTOR} }
    }`,
    variables: { entityType: path('entity_type'), entityId: path('entity_id'), featureSet: path('feature_set') },
  },
  {
    method: 'PUT',
    path: '/v1/features/{entity_type}/{entity_id}/{feature_set}',
    status: [200],
    summary: "Store an entity's feature vector",
    document: `mutation PutFeatureVector($input: PutFeatureVectorInput!) { result: putFeatureVector(input: $input) { ${VECTOR} } }`,
    variables: { input: input({ path: ['entity_type', 'entity_id', 'feature_set'] }) },
    problems: { 409: 'A newer vector is stored' },
    example: { request: { values: { chats: 3 }, as_of: '2026-11-21T06:00:00.000Z' } },
  },
];

const administration: Route[] = [
  {
    method: 'POST',
    path: '/v1/admin/erasure',
    status: [200],
    summary: 'Delete everything about an entity',
    document:
      'mutation EraseEntity($input: EraseEntityInput!) { result: eraseEntity(input: $input) { entityType entityId outcome records } }',
    variables: { input: body() },
    example: { request: { entity_type: 'user', entity_id: A_USER } },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-clock',
    status: [200],
    summary: "Move this service's manual clock (development and tests)",
    document: 'mutation SetIntelligenceClock($input: SetClockInput!) { result: setIntelligenceClock(input: $input) { now } }',
    variables: { input: body() },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-flags',
    status: [200],
    summary: 'Override a flag in this service (development and tests)',
    document:
      'mutation SetIntelligenceTestFlags($input: SetTestFlagInput!) { result: setIntelligenceTestFlags(input: $input) { key value } }',
    variables: { input: body() },
  },
];

/** Routes of the intelligence service. Source: contracts/intelligence.md, section 4. */
const table: RouteTable = {
  service: 'intelligence',
  routes: [...loop, ...governance, ...registry, ...policies, ...ledger, ...learning, ...administration],
};
export default table;
