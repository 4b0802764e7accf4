import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView } from '../../runtime/data/house-tables.js';

const REPORTS = `
create table clinical.lab_report (
  id uuid primary key,
  patient_id uuid not null,
  status text not null default 'uploaded' constraint lab_report_status_check check (status in
    ('uploaded', 'scanning', 'parsing', 'needs_review', 'parsed', 'failed', 'rejected')),
  source text not null constraint lab_report_source_check check (source in ('member', 'staff', 'partner', 'labs')),
  document_id uuid not null,
  mime_type text not null,
  sha256 text not null,
  page_count int,
  performer text,
  report_number text,
  collected_at timestamptz(3),
  draw_id uuid not null,
  parser_name text,
  parser_version text,
  failure_code text,
  attempts int not null default 0,
  due_at timestamptz(3),
  created_at timestamptz(3) not null,
  constraint lab_report_content unique (patient_id, sha256)
);
create index lab_report_patient on clinical.lab_report (patient_id, created_at, id);
create index lab_report_due on clinical.lab_report (due_at) where due_at is not null;
create table clinical.lab_document (id uuid primary key, patient_id uuid not null, bytes_sealed bytea not null);
create index lab_document_patient on clinical.lab_document (patient_id);
create table clinical.report_row (
  id uuid primary key,
  report_id uuid not null,
  patient_id uuid not null,
  position int not null,
  page int not null,
  box jsonb,
  code text,
  confidence double precision not null,
  state text not null constraint report_row_state_check check (state in ('matched', 'unmatched', 'implausible', 'duplicate', 'accepted', 'rejected')),
  observation_id uuid,
  details_sealed bytea not null,
  constraint report_row_position unique (report_id, position)
);
create index report_row_patient on clinical.report_row (patient_id)`;

/** Without what was read, and without the fingerprint of the file, by which somebody who has it could tell whose it is. */
const VIEWS: Readonly<Record<string, string>> = {
  lab_report_safe: `select id, patient_id, status, source, document_id, mime_type, page_count, performer, collected_at, draw_id, parser_name, parser_version,
    failure_code, attempts, due_at, created_at from clinical.lab_report`,
  report_row_safe: `select id, report_id, patient_id, position, page, box, code, confidence, state, observation_id from clinical.report_row`,
};

/** Reports, their files and their rows. */
export class Migration202611211720 extends Migration {
  override up(): void {
    for (const statement of REPORTS.split(/;\s*\n/)) this.addSql(statement);
    for (const [name, select] of Object.entries(VIEWS)) {
      this.addSql(`create view clinical.${name} as ${select}`);
      this.addSql(`revoke insert, update, delete on clinical.${name} from ${roleOf('clinical')}`);
      for (const statement of grantSafeView('clinical', name)) this.addSql(statement);
    }
  }
}
