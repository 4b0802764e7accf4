import { Migration } from '@mikro-orm/migrations';

/** The audit log is read newest first, by keyset. */
export class AuditByTime extends Migration {
  override up(): void {
    this.addSql('create index audit_log_at_id on identity.audit_log (at desc, id desc)');
  }
}
