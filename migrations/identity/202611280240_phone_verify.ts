import { Migration } from '@mikro-orm/migrations';

/** A code that is sent to a phone number is a challenge, too. */
export class PhoneVerify extends Migration {
  override up(): void {
    this.addSql('alter table identity.auth_challenge drop constraint auth_challenge_purpose_check');
    this.addSql(`alter table identity.auth_challenge add constraint auth_challenge_purpose_check check
      (purpose in ('sign_in', 'sign_up', 'recovery', 'email_change', 'phone_verify', 'staff_invite', 'second_factor', 'reauthenticate'))`);
  }
}
