import { Migration } from '@mikro-orm/migrations';
import { Feed } from '../../runtime/streams/feed.js';

/** What the stream of a person's inbox tells; its streams have the ids of their people, and do not end, so that entries go by their age. */
export class InboxFeed extends Migration {
  override up(): void {
    for (const statement of new Feed('comms', 'inbox_feed').tables()) this.addSql(statement);
    this.addSql('create index inbox_feed_entry_at on comms.inbox_feed_entry (at)');
  }
}
