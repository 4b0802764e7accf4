import { Migration } from '@mikro-orm/migrations';

/** How far people have been told of a new beginning: of more than a thousand, one transaction cannot tell all. */
export class Notices extends Migration {
  override up(): void {
    this.addSql(`alter table live.live_session add column notices_version int, add column notices_from int, add column notices_until int`);
    this.addSql('create index live_session_notices on live.live_session (id) where notices_version is not null');
  }
}
