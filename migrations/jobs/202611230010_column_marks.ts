import { Migration } from '@mikro-orm/migrations';

/** Why a safe view leaves a column out; what is not marked may be in it. Source: platform, rule 11. */
const MARKS: Readonly<Record<string, 'free_text' | 'personal'>> = {
  'job_meta.payload': 'personal',
  'job_meta.output': 'personal',
  'job_meta.progress_step': 'free_text',
  'job_meta.progress_message': 'free_text',
  'job_meta.error_message': 'free_text',
  'job_meta.dedupe_key': 'personal',
  'job_meta.group_key': 'personal',
  'job_meta.user_id': 'personal',
  'job_meta.requested_by': 'personal',
};

/** Marks for the daily comparison of the safe views. */
export class Migration202611230010 extends Migration {
  override up(): void {
    for (const [column, mark] of Object.entries(MARKS)) this.addSql(`comment on column jobs.${column} is 'class: ${mark}'`);
  }
}
