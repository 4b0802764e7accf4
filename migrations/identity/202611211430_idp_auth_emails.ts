import { Migration } from '@mikro-orm/migrations';

/** What an outside identity provider has sent already, by its `webhook-id`, and what became of it; for as long as it may be sent again. */
const IDP = [
  `create table identity.idp_auth_email (webhook_id text primary key, challenge_id uuid, kept_until timestamptz(3) not null)`,
  `create index idp_auth_email_kept_until on identity.idp_auth_email (kept_until)`,
];

export class IdpAuthEmails extends Migration {
  override up(): void {
    for (const statement of IDP) this.addSql(statement);
  }
}
