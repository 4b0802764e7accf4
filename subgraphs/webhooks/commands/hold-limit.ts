import type { Context } from '../../../runtime/request/context.js';
import { advance, countByLane, lockLanesOf } from './lanes.js';
import { notify } from './notices.js';

/** A paused subscription holds an event so long, and so many events. Source: section 3, hold limit. */
export const HOLD_DAYS = 14;
export const HOLD_EVENTS = 100_000;

const CLOSED = `set status = 'dead_lettered', dead_letter_reason = 'backlog_overflow', finished_at = $2, next_attempt_at = null, pending_trigger = null`;

const TOO_OLD = `
update webhooks.webhook_delivery d ${CLOSED} from webhooks.webhook_subscription s
where s.id = $1 and d.subscription_id = s.id and d.status in ('pending', 'retrying')
  and greatest(d.created_at, s.status_changed_at) + interval '${HOLD_DAYS} days' <= $2 returning d.user_id`;

const TOO_MANY = `
update webhooks.webhook_delivery d ${CLOSED} from (
  select id, event_id from webhooks.webhook_delivery where subscription_id = $1 and status in ('pending', 'retrying')
  order by sequence desc, replay_no desc offset ${HOLD_EVENTS}
) o where d.event_id = o.event_id and d.id = o.id returning d.user_id`;

const NOTIFIED = `
select from webhooks.webhook_notice n join webhooks.webhook_subscription s on s.id = n.subscription_id
where s.id = $1 and n.kind = 'backlog' and n.at >= s.status_changed_at`;

/** What has been held for too long, and the oldest of what is too much, becomes dead letters; the owner is notified once per pause. */
export async function dropOverflow(ctx: Context, subscriptionId: string): Promise<void> {
  await lockLanesOf(ctx.sql, subscriptionId);
  const values = [subscriptionId, ctx.now().toISOString()];
  const closed = [...(await ctx.sql<{ user_id: string }>(TOO_OLD, values)), ...(await ctx.sql<{ user_id: string }>(TOO_MANY, values))];
  await advance(ctx.sql, countByLane(closed.map(row => ({ subscriptionId, userId: row.user_id }))), ctx.now());
  ctx.audit('webhook_subscription.overflowed', subscriptionId, { dead_lettered: closed.length });
  if (closed.length > 0 && (await ctx.sql(NOTIFIED, [subscriptionId])).length === 0) await notify(ctx, subscriptionId, 'backlog');
}
