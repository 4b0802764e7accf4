import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** How many lines were read of a report, and how many of them could be no result. */
export class ReportLines extends Migration {
  override up(): void {
    this.addSql('alter table clinical.lab_report add column lines_read int, add column other_lines int');
    this.addSql('drop view clinical.lab_report_safe');
    this
      .addSql(`create view clinical.lab_report_safe as select id, patient_id, status, source, document_id, mime_type, page_count, performer, collected_at,
      draw_id, parser_name, parser_version, lines_read, other_lines, failure_code, attempts, due_at, created_at from clinical.lab_report`);
    this.addSql(`revoke insert, update, delete on clinical.lab_report_safe from ${roleOf('clinical')}`);
    for (const statement of grantSafeView('clinical', 'lab_report_safe')) this.addSql(statement);
  }
}
