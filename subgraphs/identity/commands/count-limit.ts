import { createHmac } from 'node:crypto';
import type { Context } from '../../../runtime/request/context.js';
import { COUNT_LIMITS } from '../rules/limits.js';

const TAKE = `
insert into identity.sign_in_limit as l (key, failures, window_ends_at) values ($1, 1, $3)
on conflict (key) do update set failures = case when l.window_ends_at <= $2 then 1 else l.failures + 1 end,
  window_ends_at = case when l.window_ends_at <= $2 then excluded.window_ends_at else l.window_ends_at end
returning failures, ceil(extract(epoch from window_ends_at - $2::timestamptz))::int as seconds`;

/**
 * Counts one more under a limit, for an address, a network, an account; keyed hashes, because these are personal data.
 * @returns null while within the limit, else the seconds until it opens. The count must be committed, so a refusal is thrown after it.
 */
export async function takeLimit(ctx: Context, name: keyof typeof COUNT_LIMITS, about: string): Promise<number | null> {
  const key = createHmac('sha256', ctx.host.config.signingKek!).update(`${name}:${about}`).digest();
  const { most, windowMs } = COUNT_LIMITS[name];
  const now = ctx.now();
  const end = new Date(now.getTime() + windowMs);
  const [row] = await ctx.sql<{ failures: number; seconds: number }>(TAKE, [key, now.toISOString(), end.toISOString()]);
  return row!.failures <= most ? null : Math.max(1, row!.seconds);
}
