import { Migration } from '@mikro-orm/migrations';

/**
 * Subscriptions that were paused or go on, whose lanes are still to be held or let go: those of users after `after_user`. Which of the two, the
 * status of the subscription says.
 */
const LANE_CHANGE = `
create table webhooks.webhook_lane_change (
  subscription_id uuid primary key,
  after_user uuid not null,
  created_at timestamptz(3) not null
)`;

export class LaneChanges extends Migration {
  override up(): void {
    this.addSql(LANE_CHANGE);
  }
}
