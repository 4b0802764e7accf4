import { Migration } from '@mikro-orm/migrations';

/** Web origins of a client's browser apps, for CORS. Source: identity 2, OAuthClient. */
export class AllowedOrigins extends Migration {
  override up(): void {
    this.addSql(`alter table identity.oauth_client add column allowed_origins text[] not null default '{}'`);
  }
}
