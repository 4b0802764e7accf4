import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView } from '../../runtime/data/house-tables.js';

const EXPORTS = `
create table clinical.fhir_export (
  id uuid primary key,
  patient_id uuid not null,
  asker text not null,
  release text not null constraint fhir_export_release_check check (release in ('r4', 'r5')),
  is_member boolean not null,
  status text not null default 'running' constraint fhir_export_status_check check (status in ('running', 'complete', 'failed')),
  attempts int not null default 0,
  resource_count int,
  bundle_sealed bytea,
  due_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create index fhir_export_patient on clinical.fhir_export (patient_id);
create index fhir_export_due on clinical.fhir_export (due_at);
create unique index fhir_export_running on clinical.fhir_export (asker, patient_id, release, is_member) where status = 'running'`;

const VIEW = `create view clinical.fhir_export_safe as
  select id, patient_id, asker, release, is_member, status, attempts, resource_count, due_at, expires_at, created_at from clinical.fhir_export`;

/** Exports that are too large to be answered at once. */
export class Migration202611220330 extends Migration {
  override up(): void {
    for (const statement of EXPORTS.split(/;\s*\n/)) this.addSql(statement);
    this.addSql(VIEW);
    this.addSql(`revoke insert, update, delete on clinical.fhir_export_safe from ${roleOf('clinical')}`);
    for (const statement of grantSafeView('clinical', 'fhir_export_safe')) this.addSql(statement);
  }
}
