import { registerEnums } from '../../../runtime/schema/enums.js';

export enum IntelligenceStage {
  S0 = 's0',
  S1 = 's1',
  S2 = 's2',
  S3 = 's3',
  S4 = 's4',
  S5 = 's5',
}

export enum Ranker {
  PASSTHROUGH = 'passthrough',
  RULES = 'rules',
  POPULARITY = 'popularity',
  LOGISTIC = 'logistic',
  THOMPSON = 'thompson',
  LINUCB = 'linucb',
}

export enum DecisionArm {
  TREATMENT = 'treatment',
  CONTROL = 'control',
}

export enum DecisionStatus {
  PENDING = 'pending',
  JOINED = 'joined',
  EXPIRED_UNJOINED = 'expired_unjoined',
  DEFERRED = 'deferred',
  DISCARDED = 'discarded',
}

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

export enum GuardrailPhase {
  BEFORE_RANK = 'before_rank',
  AFTER_RANK = 'after_rank',
}

export enum RankingPolicyAttribution {
  ALL = 'all',
  LATEST = 'latest',
}

export enum RankingPolicyStatus {
  ACTIVE = 'active',
  ARCHIVED = 'archived',
}

export enum RegistryStatus {
  CANDIDATE = 'candidate',
  CHAMPION = 'champion',
  RETIRED = 'retired',
}

export enum LoopTickTrigger {
  SCHEDULED = 'scheduled',
  MANUAL = 'manual',
}

export enum LoopTickStatus {
  RUNNING = 'running',
  COMPLETED = 'completed',
  EMPTY = 'empty',
  FAILED = 'failed',
}

export enum LoopPhase {
  MONITOR = 'monitor',
  ANALYZE = 'analyze',
  PROPOSE = 'propose',
}

export enum LoopProposalStatus {
  RAISED = 'raised',
  APPROVED = 'approved',
  REJECTED = 'rejected',
  APPLIED = 'applied',
}

export enum LoopProposalKind {
  INVESTIGATE = 'investigate',
  RETRAIN = 'retrain',
  RECALIBRATE = 'recalibrate',
  ROLLBACK = 'rollback',
  PROMOTE = 'promote',
}

export enum OffPolicyEstimatorName {
  IPS = 'ips',
  SNIPS = 'snips',
  DM = 'dm',
  DR = 'dr',
  SNDR = 'sndr',
}

export enum OffPolicyState {
  CONCLUSIVE = 'conclusive',
  INCONCLUSIVE = 'inconclusive',
  UNSUPPORTED = 'unsupported',
}

export enum EvaluationKind {
  OPE = 'ope',
  CALIBRATION = 'calibration',
}

export enum TrainingRunStatus {
  RUNNING = 'running',
  COMPLETED = 'completed',
  FAILED = 'failed',
}

registerEnums(
  {
    IntelligenceStage,
    Ranker,
    DecisionArm,
    DecisionStatus,
    GuardrailKind,
    GuardrailPhase,
    RankingPolicyAttribution,
    RankingPolicyStatus,
    RegistryStatus,
    LoopTickTrigger,
    LoopTickStatus,
    LoopPhase,
    LoopProposalStatus,
    LoopProposalKind,
    OffPolicyEstimatorName,
    OffPolicyState,
    EvaluationKind,
    TrainingRunStatus,
  },
  {
    IntelligenceStage: 'S0 is dark: the order of the caller is returned unchanged.',
    Ranker: 'What ranks at S0 to S5, in this order.',
    DecisionArm: 'CONTROL is served by the ranker of S1, for comparison.',
    GuardrailKind: 'Why a candidate is not shown. GUARD_UNAVAILABLE: the data that would tell could not be read.',
    RankingPolicyAttribution: 'Which matching pending decisions an outcome joins.',
    RegistryStatus: 'Exactly one version per policy is the champion.',
    LoopTickTrigger: 'SCHEDULED: the orchestrator called.',
    LoopPhase: 'The phases of a tick, in this order.',
    LoopProposalKind: 'Advice only; any of them can be applied with a version.',
  },
);
