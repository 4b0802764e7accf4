import { Migration } from '@mikro-orm/migrations';

/** The name under which the avatar's pictures are stored; the address follows from where the service is served. */
export class Avatars extends Migration {
  override up(): void {
    this.addSql('update identity.user_profile set avatar_url = null where avatar_url is not null'); // nothing could set it before
    this.addSql('alter table identity.user_profile rename column avatar_url to avatar_key');
  }
}
