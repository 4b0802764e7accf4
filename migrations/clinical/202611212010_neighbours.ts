import { Migration } from '@mikro-orm/migrations';

/** What clinical keeps of the orders, encounters and reports of its neighbours: ids and times, no health data. */
const NEIGHBOURS = `
create table clinical.lab_order_progress (
  lab_order_id uuid primary key,
  patient_id uuid not null,
  status text not null,
  changed_at timestamptz(3) not null,
  ask_at timestamptz(3),
  attempts int not null default 0
);
create index lab_order_progress_patient on clinical.lab_order_progress (patient_id);
create index lab_order_progress_ask on clinical.lab_order_progress (ask_at) where ask_at is not null;
create table clinical.lab_order_draw (
  lab_order_id uuid not null,
  draw_id uuid not null,
  patient_id uuid not null,
  primary key (lab_order_id, draw_id)
);
create index lab_order_draw_patient on clinical.lab_order_draw (patient_id);
create table clinical.encounter_period (
  encounter_id uuid primary key,
  patient_id uuid not null,
  starts_at timestamptz(3) not null
);
create index encounter_period_patient on clinical.encounter_period (patient_id);
create table clinical.partner_report (
  partner_event_id text primary key,
  patient_id uuid not null,
  reported_at timestamptz(3) not null
);
create index partner_report_patient on clinical.partner_report (patient_id);
alter table clinical.intervention add column partner_reported_at timestamptz(3);
create unique index vial_source on clinical.vial (source_ref) where source_ref is not null`;

/** Lab orders under way, encounters, and what the telehealth partner has reported. */
export class Migration202611212010 extends Migration {
  override up(): void {
    for (const statement of NEIGHBOURS.split(/;\s*\n/)) this.addSql(statement);
  }
}
