import { Migration } from '@mikro-orm/migrations';

/** Who publishes an app is shown on the consent page and among connected apps; until somebody says, the app's own name. */
export class ClientPublisher extends Migration {
  override up(): void {
    this.addSql('alter table identity.oauth_client add column publisher text;');
    this.addSql('update identity.oauth_client set publisher = name;');
    this.addSql('alter table identity.oauth_client alter column publisher set not null;');
  }
}
