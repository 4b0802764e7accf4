import type { FilterQuery } from '@mikro-orm/postgresql';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../../runtime/request/context.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { page, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import { SECOND_MS } from '../../../runtime/time/durations.js';
import { Job, type JobLogLine, type JobProgress, type OwnJob } from '../entities/job.js';
import type { JobsArgs } from '../inputs/job.js';
import { isOver } from '../rules/states.js';
import { loadQueue } from './queue.js';

const filterOf = ({ queue, status, userId, scheduleKey, from, to }: JobsArgs): FilterQuery<Job> => ({
  ...(queue && { queueName: queue }),
  ...(status?.length && { status: { $in: status } }),
  ...(userId && { userId: userId.toLowerCase() }),
  ...(scheduleKey && { scheduleKey }),
  ...((from || to) && { createdAt: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
});

export const pageOfJobs = (ctx: Context, args: JobsArgs): Promise<Connection<Job>> =>
  page<Job>(ctx.em, Job, filterOf(args), args, { time: 'createdAt' });

/** A user's own jobs, newest first. */
export async function pageOfOwnJobs(ctx: Context, userId: string, args: PageArgs): Promise<Connection<OwnJob>> {
  const { nodes, pageInfo } = await page<Job>(ctx.em, Job, { userId }, args, { time: 'createdAt' });
  return { nodes: await Promise.all(nodes.map(job => ownJob(ctx, job))), pageInfo };
}

/** A job as its user sees it. */
export async function ownJob(ctx: Context, job: Job): Promise<OwnJob> {
  const { id, status, createdAt, startedAt, finishedAt, queueName } = job;
  const queue = await loadQueue(ctx, queueName);
  return { id, status, createdAt, startedAt, finishedAt, title: queue!.title, progress: progressOf(job) };
}

/** Null until the first report. */
export const progressOf = ({ progressPercent, progressStep, progressMessage, progressAt }: Job): JobProgress | null =>
  progressAt === null ? null : { percent: progressPercent, step: progressStep, message: progressMessage, at: progressAt };

/** A long poll looks so often. */
const LOOK_MS = 200;

const stateOf = (job: Job): string => JSON.stringify([job.status, job.attempt, job.progressPercent, job.progressStep, job.progressMessage]);

/** Waits until the job's status or progress is another than now, or the seconds are over. */
export async function untilChanged(ctx: Context, job: Job, seconds: number): Promise<Job> {
  const before = stateOf(job);
  const deadline = performance.now() + seconds * SECOND_MS;
  while (!isOver(job.status) && stateOf(job) === before && performance.now() < deadline) {
    await sleep(LOOK_MS);
    await ctx.em.refresh(job);
  }
  return job;
}

interface Contents {
  id: string;
  payload: unknown;
  output: unknown;
}

/** Large columns, read only where somebody asks, one statement for a list. */
export const loadContents = (ctx: Context, id: string): Promise<Contents | null> =>
  ctx.load('job.contents', id, async ids => {
    const rows = await ctx.sql<Contents>('select id, payload, output from jobs.job_meta where id = any($1)', [ids]);
    return inOrder(ids, rows, row => row.id);
  });

const MAX_LINES = 1000;
const LINES = `
select job_id, to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, attempt, level, message
from jobs.job_log where job_id = any($1) order by id limit ${MAX_LINES} * cardinality($1::uuid[])`;

/** Lines of a job's log, oldest first. */
export async function loadLogs(ctx: Context, id: string): Promise<JobLogLine[]> {
  const lines = await ctx.load('job.logs', id, async ids => {
    const rows = await ctx.sql<JobLogLine & { job_id: string }>(LINES, [ids]);
    return ids.map(one => rows.filter(row => row.job_id === one).map(row => ({ ...row, at: new Date(row.at) })));
  });
  return lines ?? [];
}

const MAX_OF_USER = 20;
const NEWEST_OF_USERS = `
select j.id from unnest($1::uuid[]) as u(id) cross join lateral (
  select id from jobs.job_meta m where m.user_id = u.id order by created_at desc, id desc limit ${MAX_OF_USER}) j`;

/** The newest jobs that concern a user. */
export async function loadJobsOfUser(ctx: Context, userId: string): Promise<Job[]> {
  const found = await ctx.load('user.jobs', userId.toLowerCase(), async users => {
    const rows = await ctx.sql<{ id: string }>(NEWEST_OF_USERS, [users]);
    const jobs = await ctx.em.find(Job, { id: { $in: rows.map(row => row.id) } }, { orderBy: { createdAt: 'desc', id: 'desc' } });
    return users.map(user => jobs.filter(job => job.userId === user));
  });
  return found ?? [];
}
