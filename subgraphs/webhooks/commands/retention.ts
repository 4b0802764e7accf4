import type { Context } from '../../../runtime/request/context.js';
import { settingsOf } from '../ports/settings.js';
import { advance } from './lanes.js';

/** Markers of erased users outlive every event about them: the log keeps 30 days, the inbox 35. */
const ERASED_DAYS = 40;

const ORPHANS = `
select l.subscription_id, l.user_id from webhooks.webhook_lane l
where not exists (select from webhooks.webhook_delivery d where d.event_id = l.head_event_id and d.id = l.head_id)
order by l.subscription_id, l.user_id for update`;

/** Lanes whose head was dropped, as can happen to a pause that outlasts a short retention, go on with what is left of them. */
async function mendLanes(ctx: Context): Promise<void> {
  const lanes = await ctx.sql<{ subscription_id: string; user_id: string }>(ORPHANS);
  const touched = lanes.map(lane => ({ subscriptionId: lane.subscription_id, userId: lane.user_id, closed: 1 }));
  await advance(ctx.sql, touched, ctx.now());
}

/** Rows that go when their time is older than the retention: $1 the slot, $2 days. */
const AGED = [
  { table: 'inbound_receipt', column: 'received_at' },
  { table: 'inbound_rejection', column: 'hour' },
  { table: 'webhook_job', column: 'finished_at' },
  { table: 'webhook_notice', column: 'at' },
] as const;

const dropAged = (ctx: Context, table: string, column: string, values: readonly unknown[]): Promise<unknown> =>
  ctx.sql(`delete from webhooks.${table} where ${column} < $1::timestamptz - $2 * interval '1 day'`, values);

const WITHOUT_SUBSCRIPTION =
  'delete from webhooks.webhook_health h where not exists (select from webhooks.webhook_subscription s where s.id = h.subscription_id)';

/** Makes the next partitions and drops what is older than the retention. Source: rule 25. */
export async function dropOld(ctx: Context, slot: Date): Promise<void> {
  const values = [slot.toISOString(), settingsOf(ctx.host).retentionDays];
  await ctx.sql('select webhooks.roll_deliveries($1::timestamptz, $2)', values);
  await mendLanes(ctx);
  await dropAged(ctx, 'webhook_subscription', 'deleted_at', values);
  await ctx.sql(WITHOUT_SUBSCRIPTION);
  for (const { table, column } of AGED) await dropAged(ctx, table, column, values);
  await dropAged(ctx, 'erased_user', 'erased_at', [slot.toISOString(), ERASED_DAYS]);
}
