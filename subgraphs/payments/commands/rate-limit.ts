import { createHmac } from 'node:crypto';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { after } from '../../../runtime/time/durations.js';
import { pepperOf } from '../ports/gift-pepper.js';
import { LIMITS, type LimitName } from '../rules/limits.js';

const TAKE = `
insert into payments.rate_limit as l (key, taken, window_ends_at) values ($1, 1, $3)
on conflict (key) do update set taken = case when l.window_ends_at <= $2 then 1 else l.taken + 1 end,
  window_ends_at = case when l.window_ends_at <= $2 then excluded.window_ends_at else l.window_ends_at end
returning taken, ceil(extract(epoch from window_ends_at - $2::timestamptz))::int as seconds`;

/** A few windows that are over go with every call, so that the table has no more rows than callers. */
const SWEEP = `delete from payments.rate_limit where key in
  (select key from payments.rate_limit where window_ends_at <= $1 and key <> $2 limit 5 for update skip locked)`;

/**
 * Counts one more under a limit, for all processes at once; keyed hashes, because users and addresses are personal data.
 * @param about null for whoever is not limited: services. @throws Problem rate_limited.
 */
export async function takeLimit(ctx: Context, name: LimitName, about: string | null): Promise<void> {
  if (about === null) return;
  const key = createHmac('sha256', pepperOf(ctx.host)).update(`${name}:${about}`).digest();
  const { most, windowMs } = LIMITS[name];
  const now = ctx.now();
  await ctx.sql(SWEEP, [now.toISOString(), key]);
  const [row] = await ctx.sql<{ taken: number; seconds: number }>(TAKE, [key, now.toISOString(), after(now, windowMs).toISOString()]);
  if (row!.taken > most) fail('rate_limited', 'Too many requests', { retryAfter: Math.max(1, row!.seconds) });
}

/** The same in a transaction of its own, for what counts also when it fails: tries of a code. */
export const takeLimitApart = (ctx: Context, name: LimitName, about: string | null): Promise<void> =>
  ctx.host.transaction(own => takeLimit(own, name, about));
