import { requireValid } from '../../../runtime/request/errors.js';
import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { MembershipTier } from '../entities/plan.js';
import type { MembershipStats } from '../entities/stats.js';
import { shareBps } from '../rules/stats.js';

const DEFAULT_MS = 30 * DAY_MS;
const LONGEST_MS = 3_660 * DAY_MS;

/** `$1` from, `$2` to, `$3` plan or null. Who was what at the end, by tier. */
const AT_THE_END = `
  select p.tier_id, p.status, count(*)::int as members from membership.membership_period p join membership.membership_tier t on t.id = p.tier_id
  where p.valid_from <= $2 and (p.valid_to is null or p.valid_to > $2) and p.status <> 'lapsed' and ($3::uuid is null or t.plan_id = $3)
    and $1::timestamptz is not null
  group by p.tier_id, p.status order by members desc, p.tier_id`;

/** What began in the time, with what was before it: the periods of a user in a brand leave no gap. */
const IN_THE_TIME = `
  select
    count(*) filter (where p.status = 'lapsed')::int as lapsed,
    count(*) filter (where p.status <> 'lapsed' and b.status is null)::int as activated,
    count(*) filter (where (p.status = 'active' and b.status = 'suspended') or (p.status <> 'lapsed' and b.status = 'lapsed'))::int as reactivated,
    count(*) filter (where p.status = 'lapsed' and exists (
      select 1 from membership.membership_period s where s.membership_id = p.membership_id and s.valid_from <= $1 and s.valid_to > $1))::int as churned
  from membership.membership_period p
  join membership.membership_tier t on t.id = p.tier_id
  left join membership.membership_period b on b.user_id = p.user_id and b.brand_id = p.brand_id and b.valid_to = p.valid_from
  where p.valid_from >= $1 and p.valid_from < $2 and ($3::uuid is null or t.plan_id = $3)`;

const AT_THE_BEGINNING = `
  select count(*)::int as members from membership.membership_period p join membership.membership_tier t on t.id = p.tier_id
  where p.valid_from <= $1 and (p.valid_to is null or p.valid_to > $1) and p.status <> 'lapsed' and ($3::uuid is null or t.plan_id = $3)
    and $2::timestamptz is not null`;

interface Counts {
  lapsed: number;
  activated: number;
  reactivated: number;
  churned: number;
}

/** Figures of a time; default the last 30 days. @throws Problem invalid_request for a time that ends before it begins or is too long. */
export async function statsOf(ctx: Context, from: Date | null, to: Date | null, planId: string | null): Promise<MembershipStats> {
  const end = to ?? ctx.now();
  const begin = from ?? after(end, -DEFAULT_MS);
  const length = end.getTime() - begin.getTime();
  requireValid(length > 0 && length <= LONGEST_MS ? [] : [{ pointer: '/to', message: 'must be after from, at most ten years' }]);
  const params = [begin.toISOString(), end.toISOString(), planId?.toLowerCase() ?? null];
  const held = await ctx.sql<{ tier_id: string; status: string; members: number }>(AT_THE_END, params);
  const [counts] = await ctx.sql<Counts>(IN_THE_TIME, params);
  const [atFirst] = await ctx.sql<{ members: number }>(AT_THE_BEGINNING, params);
  const { churned, ...events } = counts!;
  const sum = (status: string): number => held.filter(row => row.status === status).reduce((total, row) => total + row.members, 0);
  const byTier = await withTiers(
    ctx,
    held.filter(row => row.status === 'active'),
  );
  return { active: sum('active'), suspended: sum('suspended'), ...events, churnRateBps: shareBps(churned, atFirst!.members), byTier };
}

async function withTiers(ctx: Context, rows: readonly { tier_id: string; members: number }[]): Promise<MembershipStats['byTier']> {
  const tiers = await ctx.em.find(MembershipTier, { id: { $in: rows.map(row => row.tier_id) } });
  return rows.map(({ tier_id: id, members }) => ({ tier: tiers.find(tier => tier.id === id)!, active: members }));
}
