import { holdsPermission } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { RetestStats } from '../entities/retest-stats.js';
import { MyRetestCyclesArgs, RetestCyclesArgs, RetestStatsArgs } from '../inputs/retest-cycle.js';
import { statsOf, type StatusCount } from '../rules/retest-stats.js';
import { among, between, given } from './conditions.js';
import { codeOf } from './dictionary.js';
import { pageOfPatient } from './pages.js';
import { auditRead, readPage } from './read-audit.js';

/** A patient's cycles, newest first; in the request's batch. */
export async function listCycles(ctx: Context, patientId: string, args: MyRetestCyclesArgs): Promise<Connection<RetestCycle>> {
  const where = given({ status: among(args.status) });
  const found = await pageOfPatient(ctx, { entity: RetestCycle, time: 'createdAt', where }, patientId, args);
  await auditRead(ctx, 'retest_cycles', found.nodes);
  return found;
}

/** Cycles of all patients that fit, newest first. */
export async function findCycles(ctx: Context, args: RetestCyclesArgs): Promise<Connection<RetestCycle>> {
  const { patientId, code, status, dueFrom, dueTo, ...paging } = args;
  const where = given({
    patientId,
    code: code && (await codeOf(ctx, code)),
    status: among(status),
    retestDueAt: between(dueFrom, dueTo),
  });
  return readPage(ctx, 'retest_cycles', RetestCycle, where, paging, 'createdAt');
}

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
