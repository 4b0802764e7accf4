import { Migration } from '@mikro-orm/migrations';

/** Every revision of an event type that ever ran here; what ran once is not changed. */
export class TypeRevisions extends Migration {
  override up(): void {
    this.addSql(`
create table events.event_type_revision (
  name text not null,
  revision smallint not null,
  fingerprint text not null,
  json_schema jsonb not null,
  registered_at timestamptz(3) not null default clock_timestamp(),
  primary key (name, revision)
);
revoke update, delete, truncate on events.event_type_revision from platform_events`);
  }
}
