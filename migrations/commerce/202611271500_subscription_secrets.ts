import { Migration } from '@mikro-orm/migrations';

/** Why somebody gave up may tell of their health: it is sealed like their own words. No row has one yet. Source: commerce 2, marks H and E. */
export class SubscriptionSecrets extends Migration {
  override up(): void {
    this.addSql(`alter table commerce.product_subscription alter column cancel_reason type bytea using null`);
    this.addSql(
      `create index scheduled_order_waiting on commerce.scheduled_order (subscription_id) where status in ('scheduled', 'processing')`,
    );
  }
}
