import { holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { RetestStats } from '../entities/retest-stats.js';
import { RetestStatsArgs } from '../inputs/retest-cycle.js';
import { statsOf, type StatusCount } from '../rules/retest-stats.js';
import { codeOf } from './dictionary.js';

/** From the counts that a trigger keeps. */
const FROM_TALLY = (
  schema: string,
): string => `select status, sum(cycles)::int as cycles, sum(days)::float8 as days, sum(organic)::int as organic, sum(late)::int as late
  from ${schema}.retest_tally`;

/** From the cycles themselves, for a period, which no kept count has. */
const FROM_CYCLES = (schema: string): string => `select status, count(*)::int as cycles, coalesce(sum(days_to_retest), 0)::float8 as days,
  count(*) filter (where organic)::int as organic, count(late_follow_up_at)::int as late from ${schema}.retest_cycle`;

function statement(schema: string, args: RetestStatsArgs): { text: string; params: string[] } {
  const given = [
    ['brand_id =', args.brandId],
    ['code =', args.code],
    ['intervention_key =', args.interventionKey],
    ['closed_at >=', args.closedFrom?.toISOString()],
    ['closed_at <', args.closedTo?.toISOString()],
  ].filter((one): one is [string, string] => one[1] != null);
  const conditions = given.map(([condition], index) => `${condition} $${index + 1}`).join(' and ');
  const source = args.closedFrom || args.closedTo ? FROM_CYCLES(schema) : FROM_TALLY(schema);
  return { text: `${source} ${conditions && `where ${conditions}`} group by status`, params: given.map(([, value]) => value) };
}

/** The statistics of all cycles, or of those that a filter leaves. @throws Problem forbidden: a member's are unfiltered. */
export async function retestStats(ctx: Context, args: RetestStatsArgs): Promise<RetestStats> {
  const filtered = Object.values(args).some(value => value != null);
  if (filtered && ctx.caller.kind === 'user' && !holdsPermission(ctx.caller, 'admin:clinical:read'))
    fail('forbidden', 'Members see the statistics unfiltered');
  const { text, params } = statement(ctx.schema, args.code ? { ...args, code: await codeOf(ctx, args.code) } : args);
  return { ...statsOf(await ctx.sql<StatusCount>(text, params), filtered), computedAt: ctx.now() };
}
