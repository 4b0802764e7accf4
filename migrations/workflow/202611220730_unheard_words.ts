import { Migration } from '@mikro-orm/migrations';

/** Of the engine's words those that nobody has heard: few, and looked for every few seconds. */
const UNHEARD = 'create index notifications_unheard on dbos.notifications (destination_uuid) where not consumed';

export class UnheardWords extends Migration {
  override up(): void {
    this.addSql(UNHEARD);
  }
}
