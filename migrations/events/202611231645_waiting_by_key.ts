import { Migration } from '@mikro-orm/migrations';

/** What the relay has not published, by key: it finds the next key that waits without reading all that waits of the one before. */
export class WaitingByKey extends Migration {
  override up(): void {
    this.addSql('create index outbox_waiting on events.outbox ((slot >> 3), order_key, seq) where published_at is null');
  }
}
