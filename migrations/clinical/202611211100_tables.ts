import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView, houseTables } from '../../runtime/data/house-tables.js';

const DICTIONARY = `
create table clinical.biomarker (
  id uuid primary key,
  code text not null constraint biomarker_code_check check (code ~ '^[a-z][a-z0-9_]{1,47}$'),
  loinc text not null,
  other_loincs text[] not null,
  name text not null,
  short_name text not null,
  category text not null constraint biomarker_category_check check (category in
    ('lipids', 'metabolic', 'hormones', 'thyroid', 'inflammation', 'liver', 'kidney', 'vitamins', 'hematology', 'electrolytes', 'vitals', 'other')),
  specimen text not null constraint biomarker_specimen_check check (specimen in ('serum', 'plasma', 'whole_blood', 'urine', 'saliva', 'dbs')),
  fasting boolean not null,
  unit text not null,
  other_units jsonb not null,
  decimals smallint not null constraint biomarker_decimals_check check (decimals >= 0 and decimals <= 6),
  molar_mass numeric,
  direction text not null constraint biomarker_direction_check check (direction in ('lower_is_better', 'higher_is_better', 'within_range')),
  noise jsonb not null,
  plausible jsonb not null,
  source text not null,
  status text not null default 'active' constraint biomarker_status_check check (status in ('active', 'deprecated')),
  version int not null default 1,
  superseded_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint biomarker_code_version_unique unique (code, version)
);
create unique index biomarker_code_current on clinical.biomarker (code) where superseded_at is null;
create unique index biomarker_loinc_current on clinical.biomarker (loinc) where superseded_at is null;

create table clinical.biomarker_range (
  id uuid primary key,
  biomarker_id uuid not null constraint biomarker_range_biomarker_id_foreign references clinical.biomarker (id) on delete cascade,
  kind text not null constraint biomarker_range_kind_check check (kind in ('reference', 'optimal', 'critical', 'panic')),
  sex text not null default 'any' constraint biomarker_range_sex_check check (sex in ('any', 'female', 'male')),
  age_from smallint,
  age_to smallint,
  condition text,
  performer text,
  low numeric,
  high numeric,
  source text not null
);
create index biomarker_range_biomarker_id_index on clinical.biomarker_range (biomarker_id)`;

/** What was measured is sealed in `result_sealed`; `canonical_value` is plain, for this service's role only. */
const OBSERVATIONS = `
create table clinical.observation (
  id uuid primary key,
  patient_id uuid not null,
  biomarker_id uuid not null,
  code text not null,
  result_sealed bytea not null,
  canonical_value numeric,
  collected_at timestamptz(3) not null,
  received_at timestamptz(3) not null,
  draw_id uuid,
  source text not null constraint observation_source_check check (source in ('lab', 'partner', 'wearable', 'manual')),
  performer text,
  method text,
  report_id uuid,
  status text not null constraint observation_status_check check (status in ('preliminary', 'final', 'corrected', 'entered_in_error')),
  verification text not null constraint observation_verification_check check (verification in ('unverified', 'verified', 'rejected')),
  needs_review boolean not null default false,
  source_ref text,
  supersedes uuid,
  superseded_by uuid
);
create index observation_patient_collected on clinical.observation (patient_id, collected_at, id);
create index observation_patient_code_collected on clinical.observation (patient_id, code, collected_at);
create unique index observation_source_ref on clinical.observation (source, source_ref) where source_ref is not null;
create unique index observation_draw on clinical.observation (patient_id, code, draw_id, coalesce(performer, ''))
  where superseded_by is null and not needs_review and draw_id is not null;
create view clinical.observation_safe as select id, patient_id, biomarker_id, code, collected_at, received_at, draw_id, source, performer, method, report_id, status,
  verification, needs_review, supersedes, superseded_by from clinical.observation`;

const INTERVENTIONS = `
create table clinical.protocol (
  id uuid primary key,
  key text not null constraint protocol_key_check check (key ~ '^[a-z][a-z0-9_]{1,47}$'),
  version int not null default 1,
  title text not null,
  status text not null constraint protocol_status_check check (status in ('draft', 'active', 'retired')),
  duration_days int not null,
  requires_consult boolean not null,
  phases jsonb not null,
  markers jsonb not null,
  contraindications text[] not null,
  superseded_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint protocol_key_version_unique unique (key, version)
);
create unique index protocol_key_current on clinical.protocol (key) where superseded_at is null;

create table clinical.intervention (
  id uuid primary key,
  patient_id uuid not null,
  kind text not null constraint intervention_kind_check check (kind in ('protocol', 'stack')),
  key text not null,
  definition_version int,
  status text not null constraint intervention_status_check check (status in
    ('proposed', 'pending_consult', 'active', 'paused', 'completed', 'stopped', 'cancelled')),
  started_on date not null,
  planned_end_on date,
  ended_at timestamptz(3),
  stop_reason text,
  prescriber_id uuid,
  source text not null constraint intervention_source_check check (source in ('member', 'staff', 'partner')),
  partner_treatment_ref text,
  time_zone text not null,
  brand_id uuid,
  activated_at timestamptz(3),
  created_at timestamptz(3) not null,
  version int not null default 1
);
create index intervention_patient_created on clinical.intervention (patient_id, created_at, id);
create unique index intervention_running on clinical.intervention (patient_id, kind, key) where status in ('active', 'paused');

create table clinical.lab_order_marker (
  lab_order_id uuid not null,
  code text not null,
  patient_id uuid not null,
  until timestamptz(3) not null,
  primary key (lab_order_id, code)
);
create index lab_order_marker_patient on clinical.lab_order_marker (patient_id, code)`;

const CYCLES = `
create table clinical.retest_cycle (
  id uuid primary key,
  patient_id uuid not null,
  code text not null,
  brand_id uuid not null,
  status text not null default 'baseline_set' constraint retest_cycle_status_check check (status in ('baseline_set', 'prompted', 'retested', 'expired')),
  baseline_observation_id uuid not null,
  baseline_draw_id uuid not null,
  baseline_collected_at timestamptz(3) not null,
  baseline_value numeric not null,
  unit text not null,
  intervention_kind text not null constraint retest_cycle_intervention_kind_check check (intervention_kind in ('protocol', 'stack')),
  intervention_id uuid not null,
  intervention_key text not null,
  window_days smallint not null constraint retest_cycle_window_check check (window_days >= 14 and window_days <= 365),
  grace_days smallint not null constraint retest_cycle_grace_check check (grace_days >= 0 and grace_days <= 90),
  retest_due_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  target_low numeric,
  target_high numeric,
  prompt_count smallint not null default 0,
  last_prompted_at timestamptz(3),
  next_prompt_at timestamptz(3),
  follow_up_observation_id uuid,
  follow_up_draw_id uuid,
  follow_up_collected_at timestamptz(3),
  follow_up_value numeric,
  delta numeric,
  delta_percent numeric,
  outcome_direction text constraint retest_cycle_outcome_direction_check check (outcome_direction in ('improved', 'worsened', 'unchanged')),
  outcome_basis text constraint retest_cycle_outcome_basis_check check (outcome_basis in
    ('target', 'direction_only', 'within_noise', 'inside_target', 'censored', 'no_target')),
  crossed_target boolean,
  days_to_retest int,
  timing text constraint retest_cycle_timing_check check (timing in ('early', 'in_window', 'late')),
  organic boolean,
  closed_at timestamptz(3),
  late_follow_up_at timestamptz(3),
  failure_count int not null default 0,
  last_error_class text,
  created_at timestamptz(3) not null,
  version int not null default 1,
  constraint retest_cycle_baseline unique (patient_id, code, baseline_draw_id)
);
create index retest_cycle_created on clinical.retest_cycle (created_at, id);
create index retest_cycle_patient_created on clinical.retest_cycle (patient_id, created_at, id);
create index retest_cycle_due on clinical.retest_cycle (retest_due_at);
create index retest_cycle_closed on clinical.retest_cycle (closed_at) where closed_at is not null;
create index retest_cycle_open on clinical.retest_cycle (id) where status in ('baseline_set', 'prompted');
create view clinical.retest_cycles_safe as select id, patient_id, code, brand_id, status, baseline_observation_id, baseline_draw_id, baseline_collected_at,
  intervention_kind, intervention_id, intervention_key, window_days, grace_days, retest_due_at, expires_at, prompt_count, last_prompted_at, next_prompt_at,
  follow_up_observation_id, follow_up_draw_id, follow_up_collected_at, outcome_direction, outcome_basis, crossed_target, days_to_retest, timing, organic,
  closed_at, late_follow_up_at, failure_count, last_error_class, created_at, version from clinical.retest_cycle;

create table clinical.sweep_run (
  id uuid primary key,
  trigger text not null constraint sweep_run_trigger_check check (trigger in ('timer', 'manual')),
  started_at timestamptz(3) not null,
  finished_at timestamptz(3),
  scanned int not null default 0,
  prompted int not null default 0,
  expired int not null default 0,
  recorded int not null default 0,
  skipped_flag int not null default 0,
  skipped_limit int not null default 0,
  skipped_lab_in_progress int not null default 0,
  failed int not null default 0
);
create index sweep_run_started on clinical.sweep_run (started_at, id)`;

/**
 * Counts for the statistics: a change of a cycle that they show adds one row that takes it out of its group and one that puts it
 * into the new one. Adding never waits for another writer; each sweep folds the rows.
 */
const TALLY = `
create table clinical.retest_tally (
  id uuid primary key default gen_random_uuid(),
  brand_id uuid not null,
  code text not null,
  intervention_key text not null,
  status text not null,
  cycles int not null,
  days bigint not null,
  organic int not null,
  late int not null
)`;

const TALLY_FUNCTION = `
create function clinical.tally_retest_cycle() returns trigger language plpgsql set search_path = pg_catalog as $tally$
begin
  if tg_op <> 'INSERT' then
    insert into clinical.retest_tally (brand_id, code, intervention_key, status, cycles, days, organic, late)
    values (old.brand_id, old.code, old.intervention_key, old.status, -1, -coalesce(old.days_to_retest, 0), -coalesce(old.organic, false)::int, -(old.late_follow_up_at is not null)::int);
  end if;
  if tg_op <> 'DELETE' then
    insert into clinical.retest_tally (brand_id, code, intervention_key, status, cycles, days, organic, late)
    values (new.brand_id, new.code, new.intervention_key, new.status, 1, coalesce(new.days_to_retest, 0), coalesce(new.organic, false)::int, (new.late_follow_up_at is not null)::int);
  end if;
  return null;
end $tally$`;

const TALLY_TRIGGERS = [
  `create trigger tally_added after insert or delete on clinical.retest_cycle for each row execute function clinical.tally_retest_cycle()`,
  `create trigger tally_changed after update on clinical.retest_cycle for each row
   when ((old.status, old.organic, old.days_to_retest, old.late_follow_up_at) is distinct from (new.status, new.organic, new.days_to_retest, new.late_follow_up_at))
   execute function clinical.tally_retest_cycle()`,
];

/** Schema of the clinical service; the safe views have no column that holds health data. */
export class Migration202611211100 extends Migration {
  override up(): void {
    for (const statement of houseTables('clinical')) this.addSql(statement);
    for (const block of [DICTIONARY, OBSERVATIONS, INTERVENTIONS, CYCLES, TALLY])
      for (const statement of block.split(/;\s*\n/)) this.addSql(statement);
    for (const statement of [TALLY_FUNCTION, ...TALLY_TRIGGERS]) this.addSql(statement);
    this.addSql('revoke all on function clinical.tally_retest_cycle() from public');
    this.addSql(`grant execute on function clinical.tally_retest_cycle() to ${roleOf('clinical')}`);
    for (const view of ['observation_safe', 'retest_cycles_safe']) {
      this.addSql(`revoke insert, update, delete on clinical.${view} from ${roleOf('clinical')}`);
      for (const statement of grantSafeView('clinical', view)) this.addSql(statement);
    }
  }
}
