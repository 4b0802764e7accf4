import { Migration } from '@mikro-orm/migrations';

/** The sandbox's objects change by themselves, or are delivered, at a time of the wall clock. */
const SANDBOX = `
alter table payments.processor_object add column due_at timestamptz(3);
create index processor_object_due_at on payments.processor_object (due_at) where due_at is not null;`;

/** What of a dispute counts against its payment, and its place in the list, soonest evidence first. */
const DISPUTES = `
alter table payments.dispute add column amount_counted bigint not null default 0,
  add column listed_at timestamptz(3) not null default '9999-12-31T00:00:00Z',
  add constraint dispute_amount_counted_check check (amount_counted between 0 and amount);
alter table payments.dispute alter column listed_at drop default;
create index dispute_listed_at on payments.dispute (listed_at, id);`;

const PAYOUTS_AND_RUNS = `
alter table payments.payout add column ledger_posted boolean not null default false;
alter table payments.reconciliation_run add column work_at timestamptz(3);
create index reconciliation_run_work_at on payments.reconciliation_run (work_at) where status = 'running';`;

/** What the processor's side needs besides. */
export class ProcessorSide extends Migration {
  override up(): void {
    for (const statement of [SANDBOX, DISPUTES, PAYOUTS_AND_RUNS]) this.addSql(statement);
  }
}
