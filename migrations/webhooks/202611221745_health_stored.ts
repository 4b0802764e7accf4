import { Migration } from '@mikro-orm/migrations';

/**
 * What only the memory of a worker knew: until when it holds first attempts back for the rate limit, by the system clock, and the
 * newest failures since the last success, which open the circuit whichever worker saw them.
 */
export class HealthStored extends Migration {
  override up(): void {
    this.addSql(`alter table webhooks.webhook_health add column limited_until timestamptz(3)`);
    this.addSql(`alter table webhooks.webhook_health add column recent_failures jsonb not null default '[]'`);
  }
}
