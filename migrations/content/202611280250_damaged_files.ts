import { Migration } from '@mikro-orm/migrations';

/** What the nightly check found of stored bytes. Source: content, rule 11. */
export class DamagedFiles extends Migration {
  override up(): void {
    this.addSql(`create table content.damaged_file (
      item_id uuid primary key,
      damage text not null constraint damaged_file_damage_check check (damage in ('CHANGED', 'MISSING')),
      found_at timestamptz(3) not null
    )`);
  }
}
