import { Migration } from '@mikro-orm/migrations';

const TABLE = `
create table clinical.waiting_event (
  subject_id uuid primary key,
  patient_id uuid not null,
  kind text not null constraint waiting_event_kind_check check (kind in ('red_flag', 'retest_cycle')),
  until timestamptz(3) not null
);
create index waiting_event_patient on clinical.waiting_event (patient_id);
create index waiting_event_due on clinical.waiting_event (until)`;

/** Events that would tell what is kept from the member wait as long as the value does. */
export class WaitingEvents extends Migration {
  override up(): void {
    for (const statement of TABLE.split(/;\s*\n/)) this.addSql(statement);
  }
}
