import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { advance, countByLane, lockLanesOf } from '../commands/lanes.js';
import { notify } from '../commands/notices.js';

/** A paused subscription holds an event so long, and so many events. Source: section 3, hold limit. */
const HOLD_DAYS = 14;
const HOLD_EVENTS = 100_000;

/**
 * Paused subscriptions with what they hold: how many, and since when the oldest head. Lanes are looked at, not all that is held: the
 * head of a lane is its oldest event.
 */
const HELD = `
select s.id, sum(l.open_count)::int as held, (extract(epoch from min(greatest(d.created_at, s.status_changed_at)) + interval '${HOLD_DAYS} days') * 1000)::float8 as at
from webhooks.webhook_subscription s join webhooks.webhook_lane l on l.subscription_id = s.id
join webhooks.webhook_delivery d on d.event_id = l.head_event_id and d.id = l.head_id
where s.status = 'paused' and s.deleted_at is null group by s.id`;

interface Held {
  id: string;
  held: number;
  /** When the limit of the oldest passes, ms. */
  at: number;
}

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

const TOLD = `
select from webhooks.webhook_notice n join webhooks.webhook_subscription s on s.id = n.subscription_id
where s.id = $1 and n.kind = 'backlog' and n.at >= s.status_changed_at`;

/** What has been held for too long, and the oldest of what is too much, becomes dead letters; the owner is told once per pause. */
async function overflow(ctx: Context, subscriptionId: string): Promise<void> {
  await lockLanesOf(ctx.sql, subscriptionId);
  const values = [subscriptionId, ctx.now().toISOString()];
  const closed = [...(await ctx.sql<{ user_id: string }>(TOO_OLD, values)), ...(await ctx.sql<{ user_id: string }>(TOO_MANY, values))];
  await advance(ctx.sql, countByLane(closed.map(row => ({ subscriptionId, userId: row.user_id }))), ctx.now());
  ctx.audit('webhook_subscription.overflowed', subscriptionId, { dead_lettered: closed.length });
  if (closed.length > 0 && (await ctx.sql(TOLD, [subscriptionId])).length === 0) await notify(ctx, subscriptionId, 'backlog');
}

const isOver = ({ held, at }: Held, now: number): boolean => held > HOLD_EVENTS || at <= now;

/** Source: section 3, hold limit passed. */
export const holdLimitTimer: Timer<Context> = {
  name: 'hold-limit',
  async next(ctx) {
    const all = await ctx.sql<Held>(HELD);
    if (all.some(one => one.held > HOLD_EVENTS)) return ctx.now();
    return all.length ? new Date(Math.min(...all.map(one => one.at))) : null;
  },
  async run(ctx, at) {
    for (const { id } of (await ctx.sql<Held>(HELD)).filter(one => isOver(one, at.getTime()))) await overflow(ctx, id);
  },
};
