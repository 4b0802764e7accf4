import { Migration } from '@mikro-orm/migrations';

/** Events of replays that a process has in hand: the brokers do not say, and a replay sends no more before they are done. */
export class ReplaysInHand extends Migration {
  override up(): void {
    this.addSql('alter table events.consumer_progress add column replaying int not null default 0');
  }
}
