import { Migration } from '@mikro-orm/migrations';

/** Why a safe view leaves a column out; what is not marked may be in it. Source: platform, rule 11. */
const MARKS: Readonly<Record<string, 'personal'>> = {
  'workflow_run_meta.user_id': 'personal',
  'workflow_run_meta.input': 'personal',
  'workflow_run_meta.output': 'personal',
};

/** Marks for the daily comparison of the safe views. */
export class Migration202611230010 extends Migration {
  override up(): void {
    for (const [column, mark] of Object.entries(MARKS)) this.addSql(`comment on column workflow.${column} is 'class: ${mark}'`);
  }
}
