import { Migration } from '@mikro-orm/migrations';
import { roleOf } from '../../events/slugs.js';
import { grantSafeView } from '../../runtime/data/house-tables.js';

/** Why a safe view leaves a column out; what is not marked may be in it. Source: clinical 2, platform rule 11. */
const MARKS: Readonly<Record<string, 'health' | 'personal'>> = {
  'observation.result_sealed': 'health',
  'observation.canonical_value': 'health',
  'retest_cycle.baseline_value': 'health',
  'retest_cycle.unit': 'health',
  'retest_cycle.target_low': 'health',
  'retest_cycle.target_high': 'health',
  'retest_cycle.follow_up_value': 'health',
  'retest_cycle.delta': 'health',
  'retest_cycle.delta_percent': 'health',
  'red_flag.details_sealed': 'health',
  'consult.details_sealed': 'health',
  'check_in.answers_sealed': 'health',
  'dose_log.details_sealed': 'health',
  'health_score.details_sealed': 'health',
  'lab_report.sha256': 'personal',
  'lab_report.report_number': 'personal',
  'lab_document.bytes_sealed': 'health',
  'report_row.details_sealed': 'health',
  'fhir_export.bundle_sealed': 'health',
};

/** Marks for the daily comparison of the safe views, and the one view that was missing. */
export class Migration202611221750 extends Migration {
  override up(): void {
    for (const [column, mark] of Object.entries(MARKS)) this.addSql(`comment on column clinical.${column} is 'class: ${mark}'`);
    this.addSql('create view clinical.lab_document_safe as select id, patient_id from clinical.lab_document');
    this.addSql(`revoke insert, update, delete on clinical.lab_document_safe from ${roleOf('clinical')}`);
    for (const statement of grantSafeView('clinical', 'lab_document_safe')) this.addSql(statement);
  }
}
