import { Migration } from '@mikro-orm/migrations';

/** Why a safe view leaves a column out; what is not marked may be in it. Source: platform, rule 11. */
const MARKS: Readonly<Record<string, 'free_text' | 'health' | 'personal'>> = {
  'decision.entity_id': 'personal',
  'decision.record': 'health',
  'decision_outcome.label': 'health',
  'decision_outcome.reward': 'health',
  'feature_vector.entity_id': 'personal',
  'feature_vector.sealed': 'health',
  'loop_proposal.notes': 'free_text',
};

/** Marks for the daily comparison of the safe views. */
export class Migration202611230010 extends Migration {
  override up(): void {
    for (const [column, mark] of Object.entries(MARKS)) this.addSql(`comment on column intelligence.${column} is 'class: ${mark}'`);
  }
}
