import { Migration } from '@mikro-orm/migrations';

/** Counts of calls by keyed hashes of who made them. */
const LIMITS = `
create table payments.rate_limit (
  key bytea primary key,
  taken int not null,
  window_ends_at timestamptz(3) not null
);
create index rate_limit_window_ends_at on payments.rate_limit (window_ends_at)`;

/** A redemption that has asked others and not heard from all: what it covers, and when somebody goes on with it. */
const REDEMPTIONS = `
alter table payments.gift add column covers_from timestamptz(3), add column covers_to timestamptz(3), add column settle_at timestamptz(3);
alter table payments.gift add constraint gift_covers_check check ((covers_from is null) = (covers_to is null));
create index gift_settle_at on payments.gift (settle_at) where settle_at is not null`;

export class LimitsGifts extends Migration {
  override up(): void {
    for (const statement of [LIMITS, REDEMPTIONS]) this.addSql(statement);
  }
}
