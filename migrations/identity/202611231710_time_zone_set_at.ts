import { Migration } from '@mikro-orm/migrations';

/** A zone that somebody gave is told from the default; of what stands so far, every other one than the default was given. */
export class TimeZoneSetAt extends Migration {
  override up(): void {
    this.addSql('alter table identity.user_settings add column time_zone_set_at timestamptz(3);');
    this.addSql(
      `update identity.user_settings s set time_zone_set_at = u.created_at from identity."user" u where u.id = s.user_id and s.time_zone <> 'UTC';`,
    );
  }
}
