import { Migration } from '@mikro-orm/migrations';

/** Of a client's many grants one transaction tells some, and the timer the others; its families are found without reading all there ever were. */
export class DueGrants extends Migration {
  override up(): void {
    this.addSql('alter table identity.oauth_grant add column announce_due_at timestamptz(3)');
    this.addSql('create index oauth_grant_announce_due on identity.oauth_grant (announce_due_at, id) where announce_due_at is not null');
    this.addSql('create index token_family_client_id on identity.token_family (client_id) where ended_at is null');
  }
}
