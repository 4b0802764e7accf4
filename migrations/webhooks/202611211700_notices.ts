import { Migration } from '@mikro-orm/migrations';

/** What the owner of a subscription was told, and whether the check before the end of a previous secret has been made. */
export class Notices extends Migration {
  override up(): void {
    this.addSql(`
create table webhooks.webhook_notice (
  id uuid primary key,
  subscription_id uuid not null references webhooks.webhook_subscription on delete cascade,
  kind text not null check (kind in ('failing_24h', 'failing_72h', 'disabled', 'backlog', 'secret_expiring')),
  at timestamptz(3) not null,
  message text not null
);
create index webhook_notice_subscription on webhooks.webhook_notice (subscription_id, at, id);
alter table webhooks.webhook_secret add column end_checked boolean not null default false`);
  }
}
