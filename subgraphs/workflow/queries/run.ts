import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { WorkflowRun, type WorkflowStep } from '../entities/run.js';
import type { WorkflowRunsArgs } from '../inputs/run.js';

const filterOf = ({ definition, status, userId, waitingFor, from, to }: WorkflowRunsArgs): FilterQuery<WorkflowRun> => ({
  ...(definition && { definitionKey: definition }),
  ...(status?.length && { status: { $in: status } }),
  ...(userId && { userId: userId.toLowerCase() }),
  ...(waitingFor && { waitingKind: waitingFor }),
  ...((from || to) && { createdAt: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
});

/** Runs, newest first. */
export const pageOfRuns = (ctx: Context, args: WorkflowRunsArgs): Promise<Connection<WorkflowRun>> =>
  page<WorkflowRun>(ctx.em, WorkflowRun, filterOf(args), args, { time: 'createdAt' });

const TIME = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const STEPS = `
select run_id, idx as index, name, status, attempts, ${TIME('started_at')} as begun, ${TIME('finished_at')} as ended,
  output_digest as "outputDigest", error_code as "errorCode", child_run_id as "childRunId"
from workflow.workflow_step where run_id = any($1) order by idx`;

type StepRow = Omit<WorkflowStep, 'startedAt' | 'finishedAt'> & { run_id: string; begun: string; ended: string | null };

const stepOf = ({ begun, ended, ...row }: StepRow): WorkflowStep & { run_id: string } => ({
  ...row,
  startedAt: new Date(begun),
  finishedAt: ended === null ? null : new Date(ended),
});

/** Steps of a run in order, one statement for a list. */
export async function loadSteps(ctx: Context, runId: string): Promise<WorkflowStep[]> {
  const found = await ctx.load('workflow.steps', runId, async ids => {
    const steps = (await ctx.sql<StepRow>(STEPS, [ids])).map(stepOf);
    return ids.map(id => steps.filter(step => step.run_id === id));
  });
  return found ?? [];
}

/** Runs whose ids a statement answers, newest first. */
async function newestRuns(ctx: Context, text: string, params: readonly unknown[]): Promise<WorkflowRun[]> {
  const rows = await ctx.sql<{ id: string }>(text, params);
  return ctx.em.find(WorkflowRun, { id: { $in: rows.map(row => row.id) } }, { orderBy: { createdAt: 'desc', id: 'desc' } });
}

const MAX_OF_DEFINITION = 10;
const OF_DEFINITIONS = `
select r.id from unnest($1::text[]) as k(key) cross join lateral (select id from workflow.workflow_run_meta m where m.definition_key = k.key
  order by created_at desc, id desc limit ${MAX_OF_DEFINITION}) r`;

/** The newest runs of a definition. */
export async function loadRunsOfDefinition(ctx: Context, key: string): Promise<WorkflowRun[]> {
  const found = await ctx.load('workflow.last_runs', key, async keys => {
    const runs = await newestRuns(ctx, OF_DEFINITIONS, [keys]);
    return keys.map(one => runs.filter(run => run.definitionKey === one));
  });
  return found ?? [];
}

const MAX_OF_USER = 20;
const OF_USERS = `
select r.id from unnest($1::uuid[]) as u(id) cross join lateral (select id from workflow.workflow_run_meta m where m.user_id = u.id
  order by created_at desc, id desc limit ${MAX_OF_USER}) r`;

/** The newest runs that concern a user. */
export async function loadRunsOfUser(ctx: Context, userId: string): Promise<WorkflowRun[]> {
  const found = await ctx.load('user.workflow_runs', userId.toLowerCase(), async users => {
    const runs = await newestRuns(ctx, OF_USERS, [users]);
    return users.map(user => runs.filter(run => run.userId === user));
  });
  return found ?? [];
}

const OF_TICKS = `
select id, output->>'tick_id' as tick from workflow.workflow_run_meta where definition_key = 'intelligence_loop' and output->>'tick_id' = any($1)`;

/** The run that asked for a tick of the loop. */
export const loadRunOfTick = (ctx: Context, tickId: string): Promise<WorkflowRun | null> =>
  ctx.load('loop_tick.run', tickId.toLowerCase(), async ticks => {
    const rows = await ctx.sql<{ id: string; tick: string }>(OF_TICKS, [ticks]);
    const runs = await ctx.em.find(WorkflowRun, { id: { $in: rows.map(row => row.id) } });
    return ticks.map(tick => runs.find(run => run.id === rows.find(row => row.tick === tick)?.id) ?? null);
  });
