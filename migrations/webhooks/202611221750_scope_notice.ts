import { Migration } from '@mikro-orm/migrations';

/** Its owner is told as well when a subscription loses some of its types, not only with the last of them. */
export class ScopeNotice extends Migration {
  override up(): void {
    this.addSql(`
alter table webhooks.webhook_notice drop constraint webhook_notice_kind_check, add constraint webhook_notice_kind_check
  check (kind in ('failing_24h', 'failing_72h', 'disabled', 'backlog', 'secret_expiring', 'scope_removed'))`);
  }
}
