import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { dropOverflow, HOLD_DAYS, HOLD_EVENTS } from '../commands/hold-limit.js';
import { earliest } from './due.js';

/**
 * Subscriptions with what they hold: how many, and of paused ones since when the oldest head. Lanes are looked at, not all that is held: the
 * head of a lane is its oldest event.
 */
const HELD = `
select s.id, sum(l.open_count)::int as held, 
  (extract(epoch from min(greatest(d.created_at, s.status_changed_at)) filter (where s.status = 'paused') + interval '${HOLD_DAYS} days') * 1000)::float8 as at
from webhooks.webhook_subscription s join webhooks.webhook_lane l on l.subscription_id = s.id
join webhooks.webhook_delivery d on d.event_id = l.head_event_id and d.id = l.head_id
where s.status in ('paused', 'active') and s.deleted_at is null group by s.id having s.status = 'paused' or sum(l.open_count) > ${HOLD_EVENTS}`;

/** `at`: when the limit of the oldest passes; null of one that is active. */
interface Held {
  id: string;
  at: number | null;
  held: number;
}

const isTooMuch = ({ held }: Held): boolean => held > HOLD_EVENTS;

/** Source: section 3, hold limit passed. */
export const holdLimitTimer: Timer<Context> = {
  name: 'hold-limit',
  async next(ctx) {
    const all = await ctx.sql<Held>(HELD);
    return all.some(isTooMuch) ? ctx.now() : earliest(all.flatMap(({ at }) => (at === null ? [] : [{ at }])));
  },
  async run(ctx, at) {
    const over = (await ctx.sql<Held>(HELD)).filter(one => isTooMuch(one) || (one.at !== null && one.at <= at.getTime()));
    for (const { id } of over) await dropOverflow(ctx, id);
  },
};
