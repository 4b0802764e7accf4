import { Migration } from '@mikro-orm/migrations';

/** The trace in which an event came, so that its attempts are seen below what caused them. */
export class EventTrace extends Migration {
  override up(): void {
    this.addSql('alter table webhooks.webhook_event add column traceparent text');
  }
}
