import { Migration } from '@mikro-orm/migrations';

/** An invitation is a challenge, which knows its link; the entry says why somebody was suspended or removed. */
export class StaffInvitations extends Migration {
  override up(): void {
    this.addSql('alter table identity.staff_member drop column invite_token_hash, add column status_reason text');
  }
}
