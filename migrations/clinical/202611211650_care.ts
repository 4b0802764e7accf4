import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** A critical value is kept from the member for a while; plans of interventions. */
const COLUMNS = `
alter table clinical.observation add column hidden_until timestamptz(3);
drop index clinical.observation_draw;
create unique index observation_draw on clinical.observation (patient_id, code, draw_id, coalesce(performer, ''))
  where superseded_by is null and not needs_review and draw_id is not null and status <> 'entered_in_error';
alter table clinical.retest_cycle add column values_hidden_until timestamptz(3);
alter table clinical.intervention add column ends_at timestamptz(3), add column next_check_in_at timestamptz(3), add column next_dose_at timestamptz(3);
create index intervention_check_in on clinical.intervention (next_check_in_at) where next_check_in_at is not null;
create index intervention_dose on clinical.intervention (next_dose_at) where next_dose_at is not null;
create index intervention_end on clinical.intervention (ends_at) where status in ('active', 'paused');
create unique index intervention_partner on clinical.intervention (partner_treatment_ref) where partner_treatment_ref is not null`;

const ALERTS = `
create table clinical.critical_alert (
  id uuid primary key,
  patient_id uuid not null,
  observation_id uuid not null,
  code text not null,
  severity text not null constraint critical_alert_severity_check check (severity in ('critical', 'panic')),
  status text not null default 'open' constraint critical_alert_status_check check (status in ('open', 'acknowledged', 'escalated', 'closed')),
  acknowledge_by timestamptz(3) not null,
  acknowledged_by text,
  acknowledged_at timestamptz(3),
  contact_log jsonb not null,
  closed_reason text,
  created_at timestamptz(3) not null
);
create unique index critical_alert_observation on clinical.critical_alert (observation_id);
create index critical_alert_created on clinical.critical_alert (created_at, id);
create index critical_alert_patient on clinical.critical_alert (patient_id, created_at, id);
create index critical_alert_open on clinical.critical_alert (acknowledge_by) where status = 'open';

create table clinical.red_flag_rule (
  id uuid primary key,
  key text not null,
  version int not null default 1,
  source text not null constraint red_flag_rule_source_check check (source in ('biomarker', 'check_in', 'wearable', 'questionnaire')),
  condition jsonb not null,
  severity text not null constraint red_flag_rule_severity_check check (severity in ('info', 'warning', 'urgent')),
  member_message_key text not null,
  clinician_action text not null,
  status text not null default 'active' constraint red_flag_rule_status_check check (status in ('active', 'retired')),
  constraint red_flag_rule_key_version_unique unique (key, version)
);

create table clinical.red_flag (
  id uuid primary key,
  patient_id uuid not null,
  rule_id uuid not null,
  rule_key text not null,
  severity text not null constraint red_flag_severity_check check (severity in ('info', 'warning', 'urgent')),
  source text not null constraint red_flag_source_check check (source in ('biomarker', 'check_in', 'wearable', 'questionnaire')),
  status text not null default 'open' constraint red_flag_status_check check (status in ('open', 'acknowledged', 'resolved', 'dismissed')),
  details_sealed bytea not null,
  detected_at timestamptz(3) not null,
  acknowledged_by text,
  acknowledged_at timestamptz(3),
  resolved_at timestamptz(3)
);
create index red_flag_detected on clinical.red_flag (detected_at, id);
create index red_flag_patient on clinical.red_flag (patient_id, detected_at, id);
create unique index red_flag_open on clinical.red_flag (patient_id, rule_key) where status in ('open', 'acknowledged')`;

const CONSULTS = `
create table clinical.consult (
  id uuid primary key,
  patient_id uuid not null,
  type text not null,
  status text not null default 'requested' constraint consult_status_check check (status in ('requested', 'scheduled', 'in_progress', 'signed', 'cancelled')),
  intervention_id uuid,
  visit_id uuid,
  clinician_id uuid,
  outcome text constraint consult_outcome_check check (outcome in ('approved', 'denied', 'more_info', 'referred')),
  follow_up_due_on date,
  signed_at timestamptz(3),
  details_sealed bytea not null,
  created_at timestamptz(3) not null,
  version int not null default 1
);
create index consult_created on clinical.consult (created_at, id);
create index consult_patient on clinical.consult (patient_id, created_at, id);
create index consult_visit on clinical.consult (visit_id) where visit_id is not null`;

const CHECK_INS = `
create table clinical.check_in_template (
  id uuid primary key,
  key text not null,
  version int not null default 1,
  title text not null,
  questions jsonb not null,
  superseded_at timestamptz(3),
  constraint check_in_template_key_version_unique unique (key, version)
);
create unique index check_in_template_current on clinical.check_in_template (key) where superseded_at is null;

create table clinical.check_in (
  id uuid primary key,
  patient_id uuid not null,
  template_id uuid not null,
  template_key text not null,
  intervention_id uuid not null,
  sequence int not null,
  due_at timestamptz(3) not null,
  status text not null default 'due' constraint check_in_status_check check (status in ('due', 'submitted', 'missed', 'skipped')),
  answers_sealed bytea,
  submitted_at timestamptz(3),
  constraint check_in_sequence unique (intervention_id, template_key, sequence)
);
create index check_in_patient on clinical.check_in (patient_id, due_at, id);
create index check_in_due on clinical.check_in (due_at) where status = 'due'`;

const DOSES = `
create table clinical.vial (
  id uuid primary key,
  patient_id uuid not null,
  product_code text not null,
  lot text,
  coa_id uuid,
  intervention_id uuid,
  status text not null default 'new' constraint vial_status_check check (status in ('new', 'in_use', 'discarded')),
  content jsonb,
  diluent_ml numeric,
  stability_days smallint not null,
  reconstituted_at timestamptz(3),
  expires_on date not null,
  beyond_use_on date,
  expires_at timestamptz(3) not null,
  doses_planned int not null,
  doses_remaining int not null,
  discard_reason text constraint vial_discard_reason_check check (discard_reason in ('used_up', 'expired', 'damaged', 'lost', 'other')),
  discarded_at timestamptz(3),
  source_ref text,
  created_at timestamptz(3) not null,
  version int not null default 1
);
create index vial_patient on clinical.vial (patient_id, created_at, id);
create index vial_expiry on clinical.vial (expires_at) where status <> 'discarded';

create table clinical.dose_log (
  id uuid primary key,
  patient_id uuid not null,
  intervention_id uuid not null,
  vial_id uuid,
  product_code text not null,
  scheduled_for timestamptz(3) not null,
  time_zone text not null,
  status text not null default 'scheduled' constraint dose_log_status_check check (status in ('scheduled', 'taken', 'skipped', 'missed')),
  taken_at timestamptz(3),
  site text,
  details_sealed bytea not null,
  constraint dose_log_slot unique (intervention_id, product_code, scheduled_for)
);
create index dose_log_patient on clinical.dose_log (patient_id, scheduled_for, id);
create index dose_log_due on clinical.dose_log (scheduled_for) where status = 'scheduled'`;

const SCORES = `
create table clinical.health_score (
  id uuid primary key,
  patient_id uuid not null,
  model_version text not null,
  status text not null constraint health_score_status_check check (status in ('complete', 'partial', 'insufficient_data')),
  band text constraint health_score_band_check check (band in ('low', 'fair', 'good', 'optimal')),
  trend text constraint health_score_trend_check check (trend in ('up', 'down', 'flat', 'first')),
  coverage double precision not null,
  details_sealed bytea not null,
  announced boolean not null default false,
  computed_at timestamptz(3) not null
);
create index health_score_patient on clinical.health_score (patient_id, computed_at, id);
create table clinical.health_score_due (patient_id uuid primary key, due_at timestamptz(3) not null);
create index health_score_due_at on clinical.health_score_due (due_at)`;

/** Every table with health data, without those columns. Source: clinical 2. */
const VIEWS: Readonly<Record<string, string>> = {
  critical_alert_safe: `select id, patient_id, observation_id, code, severity, status, acknowledge_by, acknowledged_by, acknowledged_at, contact_log, closed_reason, created_at
    from clinical.critical_alert`,
  red_flag_safe: `select id, patient_id, rule_id, rule_key, severity, source, status, detected_at, acknowledged_by, acknowledged_at, resolved_at from clinical.red_flag`,
  consult_safe: `select id, patient_id, type, status, intervention_id, visit_id, clinician_id, outcome, follow_up_due_on, signed_at, created_at, version from clinical.consult`,
  check_in_safe: `select id, patient_id, template_id, template_key, intervention_id, sequence, due_at, status, submitted_at from clinical.check_in`,
  dose_log_safe: `select id, patient_id, intervention_id, vial_id, product_code, scheduled_for, time_zone, status, taken_at, site from clinical.dose_log`,
  health_score_safe: `select id, patient_id, model_version, status, band, trend, coverage, announced, computed_at from clinical.health_score`,
};

const id = (index: number): string => `0190b3a0-0000-7000-8000-0000000d${String(index).padStart(4, '0')}`;
const lit = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const value = (code: string) => ({ var: `biomarkers.${code}.value` });
const answer = (key: string) => ({ var: `answers.${key}` });
/** `>` alone would take null for 0. */
const above = (input: object, limit: number, or: '>' | '>=' = '>=') => ({ and: [{ '!=': [input, null] }, { [or]: [input, limit] }] });
const below = (input: object, limit: number) => ({ and: [{ '!=': [input, null] }, { '<': [input, limit] }] });
const yes = (input: object) => ({ '===': [input, true] });

/** First version of the rules: key, source, condition, severity, what a clinician does. */
const RULES: readonly (readonly [key: string, source: string, condition: object, severity: string, action: string])[] = [
  [
    'potassium_dangerous',
    'biomarker',
    { or: [above(value('potassium'), 6.2, '>'), below(value('potassium'), 2.8)] },
    'urgent',
    'Call the patient; repeat the test and an ECG today.',
  ],
  ['hba1c_diabetic_range', 'biomarker', above(value('hba1c'), 6.5), 'warning', 'Confirm with a second test; refer for diabetes care.'],
  [
    'alt_three_times_upper_limit',
    'biomarker',
    above(value('alt'), 120, '>'),
    'warning',
    'Stop hepatotoxic products; repeat liver tests in 2 weeks.',
  ],
  ['glucose_very_high', 'biomarker', above(value('glucose_fasting'), 250), 'urgent', 'Call the patient; rule out ketoacidosis.'],
  ['self_harm_thoughts', 'check_in', yes(answer('self_harm_thoughts')), 'urgent', 'Call the patient now; follow the crisis procedure.'],
  ['severe_side_effects', 'check_in', above(answer('side_effects'), 8), 'warning', 'Contact the patient; consider a pause.'],
  ['chest_pain', 'questionnaire', yes(answer('chest_pain')), 'urgent', 'Call the patient; send to emergency care.'],
  [
    'contraindicated_intervention',
    'questionnaire',
    yes({ var: 'contraindicated' }),
    'urgent',
    'Review the running intervention; stop or change it.',
  ],
  [
    'sustained_high_heart_rate',
    'wearable',
    above({ var: 'wearable.resting_heart_rate' }, 120),
    'warning',
    'Contact the patient; check for infection and arrhythmia.',
  ],
];

const scale = (key: string, text: string) => ({ key, text, type: 'scale', required: true, min: 0, max: 10, options: [] });
const question = (key: string, text: string, type: string) => ({ key, text, type, required: false, min: null, max: null, options: [] });

const TEMPLATES = [
  {
    id: id(9001),
    key: 'well_being',
    title: 'How are you?',
    questions: [
      scale('energy', 'How was your energy in the last days?'),
      scale('sleep', 'How well did you sleep?'),
      scale('side_effects', 'How strong were side effects? 0 is none.'),
      question('self_harm_thoughts', 'Did you have thoughts of harming yourself?', 'boolean'),
      question('comment', 'Anything else?', 'text'),
    ],
  },
];

/** Alerts, flags, consults, check-ins, doses, vials and scores, with the first rules and templates. */
export class Migration202611211650 extends Migration {
  override up(): void {
    for (const block of [COLUMNS, ALERTS, CONSULTS, CHECK_INS, DOSES, SCORES]) for (const one of block.split(/;\s*\n/)) this.addSql(one);
    for (const [name, select] of Object.entries(VIEWS)) {
      this.addSql(`create view clinical.${name} as ${select}`);
      this.addSql(`revoke insert, update, delete on clinical.${name} from ${roleOf('clinical')}`);
      for (const statement of grantSafeView('clinical', name)) this.addSql(statement);
    }
    for (const [index, [key, source, condition, severity, action]] of RULES.entries())
      this.addSql(`insert into clinical.red_flag_rule (id, key, source, condition, severity, member_message_key, clinician_action)
        values ('${id(index + 1)}', '${key}', '${source}', ${lit(JSON.stringify(condition))}, '${severity}', 'red_flag.${key}', ${lit(action)})`);
    for (const one of TEMPLATES)
      this.addSql(
        `insert into clinical.check_in_template (id, key, title, questions) values ('${one.id}', '${one.key}', ${lit(one.title)}, ${lit(JSON.stringify(one.questions))})`,
      );
  }
}
