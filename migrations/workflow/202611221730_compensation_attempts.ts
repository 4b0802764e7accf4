import { Migration } from '@mikro-orm/migrations';

/** `retry_at`: not before then, until the timekeeper takes it away; `failed_at`: given up. */
const ATTEMPTS = `
alter table workflow.compensation
  add column attempts int not null default 0,
  add column retry_at timestamptz(3),
  add column failed_at timestamptz(3),
  add column error_code text;
create index compensation_retry_at on workflow.compensation (retry_at) where retry_at is not null`;

export class CompensationAttempts extends Migration {
  override up(): void {
    this.addSql(ATTEMPTS);
  }
}
