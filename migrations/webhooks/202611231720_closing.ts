import { Migration } from '@mikro-orm/migrations';

/**
 * Open deliveries of a subscription that are still to be closed, because it ended or its filter changed. `rest`: how many there were left at
 * the last count; `upto`: only deliveries with ids up to it, since the subscription goes on with new ones.
 */
const CLOSING = `
create table webhooks.webhook_closing (
  id uuid primary key,
  subscription_id uuid not null,
  event_types text[],
  status text not null check (status in ('cancelled', 'dead_lettered')),
  reason text not null,
  upto uuid,
  rest int not null check (rest >= 0),
  created_at timestamptz(3) not null
);
create index webhook_closing_subscription on webhooks.webhook_closing (subscription_id)`;

export class Closing extends Migration {
  override up(): void {
    this.addSql(CLOSING);
  }
}
