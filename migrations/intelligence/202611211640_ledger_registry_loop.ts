import { Migration } from '@mikro-orm/migrations';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

const POLICIES = `
create table intelligence.ranking_policy (
  id uuid primary key,
  policy_kind text not null constraint ranking_policy_kind_check check (policy_kind ~ '^[a-z][a-z0-9_]{1,63}$'),
  policy_key text not null constraint ranking_policy_key_check check (policy_key ~ '^[a-z][a-z0-9_]{1,63}$'),
  brand_id uuid,
  outcome_metric text not null,
  reward_map jsonb not null,
  maturation_days int not null default 127 constraint ranking_policy_maturation_check check (maturation_days between 1 and 400),
  attribution text not null default 'all' constraint ranking_policy_attribution_check check (attribution in ('all', 'latest')),
  epsilon double precision not null default 0.05 constraint ranking_policy_epsilon_check check (epsilon between 0.01 and 0.5),
  control_share double precision not null default 0.05 constraint ranking_policy_control_check check (control_share between 0 and 0.5),
  segment_keys text[] not null,
  context_schema jsonb not null,
  candidate_schema jsonb not null,
  guardrails jsonb not null,
  safe_tag text not null default 'informational',
  status text not null default 'active' constraint ranking_policy_status_check check (status in ('active', 'archived')),
  created_at timestamptz(3) not null,
  version int not null default 1
);
create unique index ranking_policy_name on intelligence.ranking_policy (policy_kind, policy_key, brand_id) nulls not distinct`;

const REGISTRY = `
create table intelligence.registry_version (
  id uuid primary key,
  policy_id uuid not null constraint registry_version_policy_id_foreign references intelligence.ranking_policy (id),
  policy_kind text not null,
  policy_key text not null,
  brand_id uuid,
  version int not null constraint registry_version_version_check check (version >= 1),
  status text not null constraint registry_version_status_check check (status in ('candidate', 'champion', 'retired')),
  artifact_sha256 text not null,
  artifact_erased_at timestamptz(3),
  training_data jsonb,
  offline jsonb,
  parent_version int,
  notes text,
  created_by text not null,
  created_at timestamptz(3) not null,
  championed_at timestamptz(3),
  retired_at timestamptz(3),
  constraint registry_version_number unique (policy_id, version)
);
create unique index registry_version_champion on intelligence.registry_version (policy_id) where status = 'champion';
create index registry_version_created on intelligence.registry_version (created_at, id);

create table intelligence.registry_artifact (
  registry_id uuid primary key constraint registry_artifact_registry_id_foreign references intelligence.registry_version (id),
  parameters jsonb not null
)`;

/** A rollback, or anything else, must not rewrite what was served. Source: spec 1, Decision record. */
const LEDGER = `
create table intelligence.decision (
  id uuid primary key,
  decision_key text not null,
  policy_id uuid not null constraint decision_policy_id_foreign references intelligence.ranking_policy (id),
  policy_kind text not null,
  policy_key text not null,
  brand_id uuid,
  policy_version int not null,
  registry_id uuid not null constraint decision_registry_id_foreign references intelligence.registry_version (id),
  stage text not null constraint decision_stage_check check (stage in ('s0', 's1', 's2', 's3', 's4', 's5')),
  ranker text not null constraint decision_ranker_check check (ranker in ('passthrough', 'rules', 'popularity', 'logistic', 'thompson', 'linucb')),
  arm text not null constraint decision_arm_check check (arm in ('treatment', 'control')),
  entity_type text not null,
  entity_id uuid not null,
  record bytea not null,
  request_hash bytea not null,
  served_candidate_id text,
  baseline_candidate_id text,
  propensity double precision not null constraint decision_propensity_check check (propensity > 0 and propensity <= 1),
  predicted_outcome double precision constraint decision_predicted_check check (predicted_outcome between 0 and 1),
  shadow_predictions jsonb not null,
  outcome_metric text not null,
  outcome_codes text[] not null,
  violations jsonb not null,
  fallback boolean not null,
  status text not null constraint decision_status_check check (status in ('pending', 'joined', 'expired_unjoined', 'deferred', 'discarded')),
  decided_at timestamptz(3) not null,
  activated_at timestamptz(3),
  matures_at timestamptz(3) not null,
  closed_at timestamptz(3),
  seed text not null,
  constraint decision_key_unique unique (policy_id, decision_key)
);
create index decision_decided on intelligence.decision (decided_at, id);
create index decision_entity on intelligence.decision (entity_id, decided_at);
create index decision_due on intelligence.decision (matures_at) where status = 'pending';
create index decision_deferred on intelligence.decision (decided_at) where status = 'deferred';
create index decision_matured on intelligence.decision (matures_at, policy_id) where status in ('joined', 'expired_unjoined');

create function intelligence.keep_decision() returns trigger language plpgsql as $keep$
begin
  if (new.id, new.decision_key, new.policy_id, new.policy_version, new.registry_id, new.stage, new.ranker, new.arm, new.entity_id, new.record, new.request_hash,
      new.served_candidate_id, new.propensity, new.predicted_outcome, new.shadow_predictions, new.outcome_metric, new.outcome_codes, new.violations, new.decided_at, new.seed)
    is distinct from
     (old.id, old.decision_key, old.policy_id, old.policy_version, old.registry_id, old.stage, old.ranker, old.arm, old.entity_id, old.record, old.request_hash,
      old.served_candidate_id, old.propensity, old.predicted_outcome, old.shadow_predictions, old.outcome_metric, old.outcome_codes, old.violations, old.decided_at, old.seed)
  then raise exception 'a decision is not rewritten' using errcode = 'restrict_violation'; end if;
  return new;
end $keep$;
create trigger keep_decision before update on intelligence.decision for each row execute function intelligence.keep_decision();

create table intelligence.decision_outcome (
  id uuid primary key,
  decision_id uuid not null constraint decision_outcome_decision_id_foreign references intelligence.decision (id) on delete cascade,
  metric text not null,
  label text not null,
  reward double precision not null constraint decision_outcome_reward_check check (reward between 0 and 1),
  source_type text not null,
  source_event_id text not null,
  occurred_at timestamptz(3) not null,
  joined_at timestamptz(3) not null,
  constraint decision_outcome_decision unique (decision_id)
);

create table intelligence.late_outcome (
  decision_id uuid not null constraint late_outcome_decision_id_foreign references intelligence.decision (id) on delete cascade,
  source_event_id text not null,
  received_at timestamptz(3) not null,
  constraint late_outcome_pkey primary key (decision_id, source_event_id)
);

create table intelligence.outcome_window (
  decision_id uuid primary key constraint outcome_window_decision_id_foreign references intelligence.decision (id) on delete cascade,
  metric text not null,
  opened_at timestamptz(3) not null,
  attempts int not null default 0,
  next_attempt_at timestamptz(3) not null
);
create index outcome_window_due on intelligence.outcome_window (next_attempt_at)`;

const FEATURES = `
create table intelligence.feature_set (
  key text primary key constraint feature_set_key_check check (key ~ '^[a-z][a-z0-9_]{1,63}$'),
  version int not null,
  schema jsonb not null,
  max_age_hours int not null constraint feature_set_age_check check (max_age_hours >= 1)
);

create table intelligence.feature_vector (
  id uuid primary key,
  entity_type text not null,
  entity_id uuid not null,
  feature_set text not null constraint feature_vector_feature_set_foreign references intelligence.feature_set (key),
  version int not null,
  sealed bytea not null,
  as_of timestamptz(3) not null,
  source_event_id text,
  constraint feature_vector_entity unique (entity_type, entity_id, feature_set)
);
create index feature_vector_entity_id on intelligence.feature_vector (entity_id);

create table intelligence.feature_refresh (
  feature_set text not null,
  version int not null,
  requested_at timestamptz(3) not null,
  cursor text,
  next_attempt_at timestamptz(3) not null,
  constraint feature_refresh_pkey primary key (feature_set, version)
);

create table intelligence.guard_state (
  entity_id uuid not null,
  kind text not null,
  reference text not null,
  severity text,
  detected_at timestamptz(3) not null,
  constraint guard_state_pkey primary key (entity_id, kind, reference)
);

create table intelligence.entity_tombstone (
  entity_hash bytea primary key,
  erased_at timestamptz(3) not null
);

create table intelligence.tombstone_key (
  only_row boolean primary key default true constraint tombstone_key_only_row_check check (only_row),
  sealed bytea not null
)`;

const LOOP = `
create table intelligence.loop_tick (
  id uuid primary key,
  trigger text not null constraint loop_tick_trigger_check check (trigger in ('scheduled', 'manual')),
  status text not null constraint loop_tick_status_check check (status in ('running', 'completed', 'empty', 'failed')),
  phases jsonb not null,
  client_id text not null,
  idempotency_key text,
  started_at timestamptz(3) not null,
  finished_at timestamptz(3),
  error_class text,
  constraint loop_tick_idempotency unique (client_id, idempotency_key)
);
create index loop_tick_started on intelligence.loop_tick (started_at, id);

create table intelligence.meta_metric (
  id uuid primary key,
  tick_id uuid not null constraint meta_metric_tick_id_foreign references intelligence.loop_tick (id),
  metric text not null,
  value double precision not null,
  details jsonb not null,
  computed_at timestamptz(3) not null
);
create unique index meta_metric_scope on intelligence.meta_metric
  (tick_id, metric, (details->'scope'), (coalesce(details->>'ranker', '')), (coalesce(details->>'shadow', '')));
create index meta_metric_newest on intelligence.meta_metric (computed_at, id);

create table intelligence.loop_proposal (
  id uuid primary key,
  status text not null constraint loop_proposal_status_check check (status in ('raised', 'approved', 'rejected', 'applied')),
  kind text not null constraint loop_proposal_kind_check check (kind in ('investigate', 'retrain', 'recalibrate', 'rollback', 'promote')),
  policy_id uuid not null constraint loop_proposal_policy_id_foreign references intelligence.ranking_policy (id),
  policy_kind text not null,
  policy_key text not null,
  brand_id uuid,
  registry_id uuid,
  metric text not null,
  threshold double precision not null,
  observed double precision not null,
  evidence jsonb not null,
  suggested_version int,
  reviewer_id text,
  notes text,
  raised_at timestamptz(3) not null,
  reviewed_at timestamptz(3),
  applied_version int,
  applied_registry_id uuid,
  applied_by text,
  applied_at timestamptz(3),
  tick_id uuid not null,
  version int not null default 1
);
create unique index loop_proposal_open on intelligence.loop_proposal (policy_id, metric, registry_id) nulls not distinct where status in ('raised', 'approved');
create index loop_proposal_raised on intelligence.loop_proposal (raised_at, id);

create table intelligence.governance_queue (
  proposal_id uuid primary key,
  queued_at timestamptz(3) not null
);

create table intelligence.ope_evaluation (
  id uuid primary key,
  policy_id uuid not null constraint ope_evaluation_policy_id_foreign references intelligence.ranking_policy (id),
  candidate_version int not null,
  target_version int not null,
  estimators jsonb not null,
  lift_over_target jsonb,
  ess double precision not null,
  max_weight double precision not null,
  n int not null,
  unjoined int not null,
  support_violations int not null,
  window_from timestamptz(3) not null,
  window_to timestamptz(3) not null,
  state text not null constraint ope_evaluation_state_check check (state in ('conclusive', 'inconclusive', 'unsupported')),
  created_at timestamptz(3) not null
);

create table intelligence.training_run (
  id uuid primary key,
  policy_id uuid not null constraint training_run_policy_id_foreign references intelligence.ranking_policy (id),
  rankers text[] not null,
  data_from timestamptz(3) not null,
  data_to timestamptz(3) not null,
  seed int not null,
  status text not null constraint training_run_status_check check (status in ('running', 'completed', 'failed')),
  reason text,
  registry_id uuid,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3)
);
create unique index training_run_running on intelligence.training_run (policy_id) where status = 'running';

create table intelligence.alarm_record (
  cause text not null,
  at timestamptz(3) not null,
  constraint alarm_record_pkey primary key (cause, at)
)`;

/** Left out: who it was about, what was known of them, what was offered, what became of it. Source: intelligence 2. */
const SAFE_VIEWS = `
create view intelligence.decision_safe as
  select id, policy_id, policy_kind, policy_key, brand_id, policy_version, registry_id, stage, ranker, arm, entity_type, served_candidate_id, propensity, predicted_outcome,
    shadow_predictions, outcome_metric, status, fallback, decided_at, activated_at, matures_at, closed_at from intelligence.decision;
create view intelligence.decision_outcome_safe as select id, decision_id, metric, source_type, occurred_at, joined_at from intelligence.decision_outcome;
create view intelligence.feature_vector_safe as select id, entity_type, feature_set, version, as_of from intelligence.feature_vector;
create view intelligence.loop_proposal_safe as
  select id, status, kind, policy_id, policy_kind, policy_key, brand_id, registry_id, metric, threshold, observed, evidence, suggested_version, reviewer_id, raised_at, reviewed_at,
    applied_version, applied_registry_id, applied_by, applied_at, tick_id, version from intelligence.loop_proposal;
create view intelligence.meta_metric_safe as select id, tick_id, metric, value, details, computed_at from intelligence.meta_metric`;

const VIEWS = ['decision_safe', 'decision_outcome_safe', 'feature_vector_safe', 'loop_proposal_safe', 'meta_metric_safe'];

/** The set that this service keeps itself, from events: counts and recency only. Source: intelligence 5. */
const ACTIVITY = `
insert into intelligence.feature_set (key, version, schema, max_age_hours) values ('activity', 1,
  '{"type":"object","additionalProperties":false,"properties":{"prompts_received":{"type":"integer"},"red_flags":{"type":"integer"},"results_added":{"type":"integer"},
    "scores_computed":{"type":"integer"},"protocols_started":{"type":"integer"},"chats":{"type":"integer"},"events_tracked":{"type":"integer"},"encounters":{"type":"integer"},
    "wearable_syncs":{"type":"integer"},"score_band":{"type":"string","maxLength":32}}}', 9600)`;

export class LedgerRegistryLoop extends Migration {
  override up(): void {
    const views = VIEWS.flatMap(view => grantSafeView('intelligence', view));
    const statements = [...houseTables('intelligence'), POLICIES, REGISTRY, LEDGER, FEATURES, LOOP, ACTIVITY, SAFE_VIEWS, ...views];
    for (const statement of statements) this.addSql(statement);
  }
}
