import { Migration } from '@mikro-orm/migrations';

/** How often the head of a lane was tried stands in the lane itself, so that looking for work reads lanes only. */
export class LaneAttempts extends Migration {
  override up(): void {
    this.addSql(`
alter table webhooks.webhook_lane add column head_attempt_count int not null default 0;
update webhooks.webhook_lane l set head_attempt_count = d.attempt_count
  from webhooks.webhook_delivery d where d.event_id = l.head_event_id and d.id = l.head_id;
alter table webhooks.webhook_lane alter column head_attempt_count drop default`);
  }
}
