import { Migration } from '@mikro-orm/migrations';

/** Where each process stands with each consumer: the brokers do not say how old what waits is. Rows of processes that are gone are pruned. */
const PROGRESS = `
create table events.consumer_progress (
  consumer text not null references events.consumer on delete cascade,
  holder uuid not null,
  in_hand int not null check (in_hand >= 0),
  oldest_at timestamptz(3) check ((oldest_at is not null) = (in_hand > 0)),
  settled_seq bigint,
  seen_at timestamptz(3) not null,
  primary key (consumer, holder)
) with (fillfactor = 50)`;

export class ConsumerProgress extends Migration {
  override up(): void {
    this.addSql(PROGRESS);
  }
}
