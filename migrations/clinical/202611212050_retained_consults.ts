import { Migration } from '@mikro-orm/migrations';

/** What the law may want kept of signed consults after an erasure: neither whose they were nor what they said. Source: clinical 7.1.17. */
const RETAINED = `
create table clinical.retained_consult (
  id uuid primary key,
  type text not null,
  created_at timestamptz(3) not null,
  signed_at timestamptz(3) not null,
  follow_up_due_on date,
  keep_until timestamptz(3) not null
);
create index retained_consult_end on clinical.retained_consult (keep_until)`;

/** Signed consults that outlive an erasure. */
export class Migration202611212050 extends Migration {
  override up(): void {
    for (const statement of RETAINED.split(/;\s*\n/)) this.addSql(statement);
  }
}
