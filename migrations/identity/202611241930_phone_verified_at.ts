import { Migration } from '@mikro-orm/migrations';

/** A number counts as its account's only once somebody has confirmed it. */
export class PhoneVerifiedAt extends Migration {
  override up(): void {
    this.addSql('alter table identity."user" add column phone_verified_at timestamptz(3)');
  }
}
