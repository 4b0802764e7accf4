import type { Context } from '../../../runtime/request/context.js';
import { advance, countByLane } from './lanes.js';
import { notify } from './notices.js';

/** A paused subscription holds an event so long; one that is paused or active has so many open at most. Source: section 3, hold limit. */
export const HOLD_DAYS = 14;
export const HOLD_EVENTS = 100_000;

const CLOSED = `set status = 'dead_lettered', dead_letter_reason = 'backlog_overflow', finished_at = $2, next_attempt_at = null, pending_trigger = null`;

/** Closed in one transaction at most: events of these users wait for it. */
const AT_ONCE = 1_000;

/** Too old, while it is paused; then the oldest of too many. */
const CHOOSE = `
select d.id, d.event_id, d.user_id from webhooks.webhook_delivery d join webhooks.webhook_subscription s on s.id = d.subscription_id
where s.id = $1 and d.status in ('pending', 'retrying') and ($3 or (s.status = 'paused'
  and greatest(d.created_at, s.status_changed_at) + interval '${HOLD_DAYS} days' <= $2))
order by d.sequence, d.replay_no limit $4`;

const LOCK = `select from webhooks.webhook_lane where subscription_id = $1 and user_id = any($2::uuid[]) order by subscription_id, user_id for update`;

const CLOSE = `
update webhooks.webhook_delivery d ${CLOSED} from unnest($1::uuid[], $3::uuid[]) as k(event_id, id)
where d.event_id = k.event_id and d.id = k.id and d.status in ('pending', 'retrying') returning d.user_id`;

const HELD = `select coalesce(sum(open_count), 0)::int as held from webhooks.webhook_lane where subscription_id = $1`;

const NOTIFIED = `
select from webhooks.webhook_notice n join webhooks.webhook_subscription s on s.id = n.subscription_id
where s.id = $1 and n.kind = 'backlog' and n.at >= s.status_changed_at and (s.status = 'paused' or n.at > $2::timestamptz - interval '1 day')`;

/**
 * A batch of what has been held for too long, or else of the oldest of what is too much, becomes dead letters; the owner is notified once
 * per pause, of an active one once a day. Where more is left, it is due again at once.
 */
export async function dropOverflow(ctx: Context, subscriptionId: string): Promise<void> {
  const now = ctx.now().toISOString();
  const choose = (all: boolean, limit: number): Promise<{ id: string; event_id: string; user_id: string }[]> =>
    limit > 0 ? ctx.sql(CHOOSE, [subscriptionId, now, all, limit]) : Promise.resolve([]);
  const [lanes] = await ctx.sql<{ held: number }>(HELD, [subscriptionId]);
  const old = await choose(false, AT_ONCE);
  const chosen = old.length > 0 ? old : await choose(true, Math.min(AT_ONCE, lanes!.held - HOLD_EVENTS));
  await ctx.sql(LOCK, [subscriptionId, chosen.map(row => row.user_id)]);
  const closed = await ctx.sql<{ user_id: string }>(CLOSE, [chosen.map(row => row.event_id), now, chosen.map(row => row.id)]);
  await advance(ctx.sql, countByLane(closed.map(row => ({ subscriptionId, userId: row.user_id }))), ctx.now());
  ctx.audit('webhook_subscription.overflowed', subscriptionId, { dead_lettered: closed.length });
  if (closed.length > 0 && (await ctx.sql(NOTIFIED, [subscriptionId, now])).length === 0) await notify(ctx, subscriptionId, 'backlog');
}
