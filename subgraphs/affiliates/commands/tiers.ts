import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { IS_POSTED, REVERSED } from '../queries/figures.js';

const DAYS = 90;

/** The tier that each affiliate has reached by what was confirmed in the last 90 days: posted, less what was taken back of it. Source: affiliates 7.6. */
const MOVE = `
with confirmed as (
  select a.id, a.program_id, a.tier_key, coalesce((select sum(c.base::numeric * (c.amount - ${REVERSED}) / c.amount) from affiliates.commission c
    join affiliates.affiliate_program p on p.id = c.program_id
    where c.affiliate_id = a.id and c.created_at > $1 and c.currency = p.currency and ${IS_POSTED}), 0) as base
  from affiliates.affiliate a where a.status in ('approved', 'suspended')),
reached as (
  select f.id, f.tier_key as before, (select t.key from affiliates.commission_tier t where t.program_id = f.program_id and t.threshold <= f.base
    order by t.rank desc limit 1) as after from confirmed f)
update affiliates.affiliate a set tier_key = r.after, version = a.version + 1 from reached r
where a.id = r.id and r.after is not null and r.after <> r.before returning a.id, r.before, r.after`;

/** Moves affiliates to the tiers they have reached; what they earn from now on changes. */
export async function moveTiers(ctx: Context): Promise<void> {
  const since = after(ctx.now(), -DAYS * DAY_MS).toISOString();
  for (const moved of await ctx.sql<{ id: string; before: string; after: string }>(MOVE, [since]))
    ctx.audit('affiliate.tier_changed', moved.id, { from: moved.before, to: moved.after });
}
