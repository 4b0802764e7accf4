import { Migration } from '@mikro-orm/migrations';

/**
 * Seeding from the log. `position` is set while a consumer is detached or is being fed: the place in each relay group up to which it has
 * everything; `upto` where the feeding ends, because what came later is in its queues. `start_at`: nothing that occurred earlier is meant for it.
 */
const CONSUMER = `
alter table events.consumer add column position bigint[] check (cardinality(position) = 8);
alter table events.consumer add column upto bigint[] check (cardinality(upto) = 8);
alter table events.consumer add column start_at timestamptz(3)`;

/** Where a consumer began to listen to a type: what was relayed before is not missed. No row: from the beginning. */
const START = `
create table events.consumer_start (
  consumer text not null references events.consumer on delete cascade,
  type text not null,
  places bigint[] not null check (cardinality(places) = 8),
  primary key (consumer, type)
)`;

/** How far the relay was, once a minute: finds the place of an instant. */
const MARKS = `
create table events.position_mark (
  minute timestamptz(3) primary key,
  taken_at timestamptz(3) not null,
  places bigint[] not null check (cardinality(places) = 8)
)`;

export class Seeding extends Migration {
  override up(): void {
    [CONSUMER, START, MARKS].forEach(statement => this.addSql(statement));
  }
}
