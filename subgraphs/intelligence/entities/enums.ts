import { registerEnumType } from 'type-graphql';

/** Service tokens only: no user token, whatever its scopes or role. Source: spec 1, Authentication 9; intelligence 4. */
export const READERS = { service: 'admin:ai' } as const;
/** Only clients behind which a person stands: no internal client, whatever its scopes, may apply what the loop proposes. Source: intelligence 4. */
export const GOVERNORS = { service: 'admin:ai', internal: [] } as const;
export const LOOP_RUNNERS = { service: 'admin:ai', internal: ['workflow'] } as const;
export const METRIC_READERS = { service: 'admin:ai', internal: ['workflow', 'platform'] } as const;
export const GATE_READERS = { service: 'admin:ai', internal: ['platform'] } as const;

export enum IntelligenceStage {
  S0 = 's0',
  S1 = 's1',
  S2 = 's2',
  S3 = 's3',
  S4 = 's4',
  S5 = 's5',
}
registerEnumType(IntelligenceStage, {
  name: 'IntelligenceStage',
  description: 'S0 is dark: the order of the caller is returned unchanged.',
});

export enum Ranker {
  PASSTHROUGH = 'passthrough',
  RULES = 'rules',
  POPULARITY = 'popularity',
  LOGISTIC = 'logistic',
  THOMPSON = 'thompson',
  LINUCB = 'linucb',
}
registerEnumType(Ranker, { name: 'Ranker', description: 'What ranks at S0 to S5, in this order.' });

export enum DecisionArm {
  TREATMENT = 'treatment',
  CONTROL = 'control',
}
registerEnumType(DecisionArm, { name: 'DecisionArm', description: 'CONTROL is served by the ranker of S1, for comparison.' });

export enum DecisionStatus {
  PENDING = 'pending',
  JOINED = 'joined',
  EXPIRED_UNJOINED = 'expired_unjoined',
  DEFERRED = 'deferred',
  DISCARDED = 'discarded',
}
registerEnumType(DecisionStatus, { name: 'DecisionStatus' });

export enum GuardrailKind {
  RED_FLAG_OPEN = 'red_flag_open',
  CRITICAL_LAB_OPEN = 'critical_lab_open',
  CONTRAINDICATED = 'contraindicated',
  AGE_RESTRICTED = 'age_restricted',
  REGION_RESTRICTED = 'region_restricted',
  ALREADY_ACTIVE = 'already_active',
  UNSAFE_CONTENT = 'unsafe_content',
  FREQUENCY_CAP = 'frequency_cap',
  GUARD_UNAVAILABLE = 'guard_unavailable',
}
registerEnumType(GuardrailKind, {
  name: 'GuardrailKind',
  description: 'Why a candidate is not shown. GUARD_UNAVAILABLE: the data that would tell could not be read.',
});

export enum GuardrailPhase {
  BEFORE_RANK = 'before_rank',
  AFTER_RANK = 'after_rank',
}
registerEnumType(GuardrailPhase, { name: 'GuardrailPhase' });

export enum RankingPolicyAttribution {
  ALL = 'all',
  LATEST = 'latest',
}
registerEnumType(RankingPolicyAttribution, {
  name: 'RankingPolicyAttribution',
  description: 'Which matching pending decisions an outcome joins.',
});

export enum RankingPolicyStatus {
  ACTIVE = 'active',
  ARCHIVED = 'archived',
}
registerEnumType(RankingPolicyStatus, { name: 'RankingPolicyStatus' });

export enum RegistryStatus {
  CANDIDATE = 'candidate',
  CHAMPION = 'champion',
  RETIRED = 'retired',
}
registerEnumType(RegistryStatus, { name: 'RegistryStatus', description: 'Exactly one version per policy is the champion.' });

export enum LoopTickTrigger {
  SCHEDULED = 'scheduled',
  MANUAL = 'manual',
}
registerEnumType(LoopTickTrigger, { name: 'LoopTickTrigger', description: 'SCHEDULED: the orchestrator called.' });

export enum LoopTickStatus {
  RUNNING = 'running',
  COMPLETED = 'completed',
  EMPTY = 'empty',
  FAILED = 'failed',
}
registerEnumType(LoopTickStatus, { name: 'LoopTickStatus' });

export enum LoopPhase {
  MONITOR = 'monitor',
  ANALYZE = 'analyze',
  PROPOSE = 'propose',
}
registerEnumType(LoopPhase, { name: 'LoopPhase', description: 'The phases of a tick, in this order.' });

export enum LoopProposalStatus {
  RAISED = 'raised',
  APPROVED = 'approved',
  REJECTED = 'rejected',
  APPLIED = 'applied',
}
registerEnumType(LoopProposalStatus, { name: 'LoopProposalStatus' });

export enum LoopProposalKind {
  INVESTIGATE = 'investigate',
  RETRAIN = 'retrain',
  RECALIBRATE = 'recalibrate',
  ROLLBACK = 'rollback',
  PROMOTE = 'promote',
}
registerEnumType(LoopProposalKind, { name: 'LoopProposalKind', description: 'Advice only; any of them can be applied with a version.' });

export enum OffPolicyEstimatorName {
  IPS = 'ips',
  SNIPS = 'snips',
  DM = 'dm',
  DR = 'dr',
  SNDR = 'sndr',
}
registerEnumType(OffPolicyEstimatorName, { name: 'OffPolicyEstimatorName' });

export enum OffPolicyState {
  CONCLUSIVE = 'conclusive',
  INCONCLUSIVE = 'inconclusive',
  UNSUPPORTED = 'unsupported',
}
registerEnumType(OffPolicyState, { name: 'OffPolicyState' });

export enum EvaluationKind {
  OPE = 'ope',
  CALIBRATION = 'calibration',
}
registerEnumType(EvaluationKind, { name: 'EvaluationKind' });

export enum TrainingRunStatus {
  RUNNING = 'running',
  COMPLETED = 'completed',
  FAILED = 'failed',
}
registerEnumType(TrainingRunStatus, { name: 'TrainingRunStatus' });
