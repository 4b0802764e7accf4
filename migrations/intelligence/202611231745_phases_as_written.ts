import { Migration } from '@mikro-orm/migrations';

/** The counts of a tick keep the order in which they were written: `jsonb` orders keys anew, and a repeated request is answered byte for byte. */
export class PhasesAsWritten extends Migration {
  override up(): void {
    this.addSql('alter table intelligence.loop_tick alter column phases type json using phases::text::json');
  }
}
