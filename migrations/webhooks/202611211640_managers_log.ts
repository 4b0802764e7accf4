import { Migration } from '@mikro-orm/migrations';

/**
 * Who manages which clients, and what the attempts log is asked by: an attempt knows its event type, and a test has no delivery.
 */
export class ManagersLog extends Migration {
  override up(): void {
    this.addSql(`
create table webhooks.webhook_manager (
  id text primary key,
  client_ids text[] not null check (cardinality(client_ids) <= 100),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
alter table webhooks.webhook_attempt add column event_type text;
update webhooks.webhook_attempt a set event_type = d.event_type from webhooks.webhook_delivery d where d.id = a.delivery_id;
delete from webhooks.webhook_attempt where event_type is null;
alter table webhooks.webhook_attempt alter column event_type set not null, alter column delivery_id drop not null;
create index webhook_attempt_subscription on webhooks.webhook_attempt (subscription_id, started_at, id);
create index webhook_attempt_started on webhooks.webhook_attempt (started_at, id);
create index webhook_delivery_dead_subscription on webhooks.webhook_delivery (subscription_id, finished_at, id) where status = 'dead_lettered'`);
  }
}
