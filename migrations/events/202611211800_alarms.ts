import { Migration } from '@mikro-orm/migrations';

/** How long probes took from their emit to our handler, by the system clock. */
const ROUNDTRIP = `
create table events.roundtrip (
  type text not null,
  probe_id uuid not null,
  slot smallint not null,
  transport text not null check (transport in ('rabbitmq', 'embedded')),
  ms int not null,
  measured_at timestamptz(3) not null default clock_timestamp(),
  primary key (type, probe_id)
);
create index roundtrip_measured on events.roundtrip (measured_at)`;

/** What is wrong and has been told; a row goes when it is right again, so that the next time is told anew. */
const ALARM = `
create table events.alarm (
  kind text not null,
  key text not null,
  raised_at timestamptz(3) not null default clock_timestamp(),
  primary key (kind, key)
)`;

/** Events that a process handled after a later one of their key: there must be none. */
const DISORDER = `
create table events.disorder (
  consumer text not null,
  event_id uuid not null,
  noticed_at timestamptz(3) not null default clock_timestamp(),
  primary key (consumer, event_id)
)`;

export class Alarms extends Migration {
  override up(): void {
    [ROUNDTRIP, ALARM, DISORDER].forEach(statement => this.addSql(statement));
  }
}
