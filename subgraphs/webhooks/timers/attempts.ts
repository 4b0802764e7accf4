import { setTimeout as sleep } from 'node:timers/promises';
import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { signalOf } from '../commands/signal.js';
import { areBusy } from '../workers/delivery.js';

/** When each lane may go on: its head's time, or later where first attempts are held back. */
const TIMES = `
select case when d.attempt_count = 0 then greatest(l.next_attempt_at, h.firsts_held_until) else l.next_attempt_at end as at
from webhooks.webhook_lane l join webhooks.webhook_delivery d on d.event_id = l.head_event_id and d.id = l.head_id
left join webhooks.webhook_health h on h.subscription_id = l.subscription_id where l.next_attempt_at is not null`;
const EARLIEST = `select extract(epoch from min(at)) * 1000 as ms from (${TIMES}) t`;
const DUE = `select count(*)::int as due from (${TIMES}) t where at <= $1`;

/** How long attempts may take that a moved clock waits for: the longest deadline of a subscription, and a lease, ms. */
const PATIENCE_MS = 45_000;
const CHECK_MS = 20;

/**
 * With a manual clock: the attempts that are due at an instant, which the delivery worker makes while the clock stands there.
 * This timer only waits for them, so that the clock moves on in time order. Without one the worker needs no timer.
 */
export const attemptsTimer: Timer<Context> = {
  name: 'attempts',
  async next(ctx) {
    if (!ctx.host.config.manualClock) return null;
    const [row] = await ctx.sql<{ ms: string | null }>(EARLIEST);
    return row?.ms == null ? null : new Date(Math.round(Number(row.ms)));
  },
  run: (ctx, at) => untilAttempted(ctx, at),
  claimed: { claim: async () => undefined, keep: async () => undefined, finish: async () => undefined },
};

/** Something is due, or in the air: a probe moves the time of its own lane when it begins. */
async function hasWork(ctx: Context, at: Date): Promise<boolean> {
  return areBusy(ctx.host) || (await ctx.sql<{ due: number }>(DUE, [at.toISOString()]))[0]!.due > 0;
}

async function untilAttempted(ctx: Context, at: Date): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (await hasWork(ctx, at)) {
    if (performance.now() > deadline)
      throw new Problem('unavailable', 'Due deliveries are not being attempted; is a delivery worker running?');
    signalOf(ctx.host).notify();
    await sleep(CHECK_MS);
  }
}
