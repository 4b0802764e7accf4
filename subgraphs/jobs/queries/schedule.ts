import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { nextOf } from '../../../runtime/time/cron.js';
import { JobSchedule, type JobOccurrence } from '../entities/schedule.js';
import { JobScheduleStatus, type JobOccurrenceState } from '../entities/enums.js';
import type { JobOccurrencesArgs, JobSchedulesArgs } from '../inputs/schedule.js';

const filterOf = ({ queue, status, after }: JobSchedulesArgs): FilterQuery<JobSchedule> => ({
  ...(queue && { queueName: queue }),
  ...(status && { status }),
  ...(after && { key: { $gt: String(decodeCursor(after, 1)[0]) } }),
});

/** Schedules by key. */
export async function pageOfSchedules(ctx: Context, args: JobSchedulesArgs): Promise<Connection<JobSchedule>> {
  const rows = await ctx.em.find(JobSchedule, filterOf(args), { orderBy: { key: 'asc' }, limit: args.first + 1 });
  return toConnection(rows, args.first, schedule => [schedule.key]);
}

const OCCURRENCES = `
select schedule_key as "scheduleKey", (extract(epoch from due_at) * 1000)::float8 as ms, state, job_id as "jobId" from jobs.schedule_occurrence
where schedule_key = $1 and ($2::text is null or state = $2) and ($3::timestamptz is null or due_at < $3) order by due_at desc limit $4`;

interface OccurrenceRow {
  scheduleKey: string;
  ms: number;
  state: JobOccurrenceState;
  jobId: string | null;
}

/** Occurrences of a schedule, newest first; null where there is no such schedule. */
export async function pageOfOccurrences(ctx: Context, args: JobOccurrencesArgs): Promise<Connection<JobOccurrence> | null> {
  const { key, state, first, after } = args;
  if (!(await ctx.em.findOne(JobSchedule, { key }))) return null;
  const rows = await ctx.sql<OccurrenceRow>(OCCURRENCES, [key, state ?? null, after ? cursorTime(after) : null, first + 1]);
  const occurrences = rows.map(({ ms, ...row }) => ({ ...row, dueAt: new Date(ms) }));
  return toConnection(occurrences, first, one => [one.dueAt.toISOString()]);
}

/** @throws Problem invalid_request for a cursor without an instant. */
function cursorTime(after: string): string {
  const at = new Date(String(decodeCursor(after, 1)[0]));
  if (Number.isNaN(at.getTime())) decodeCursor('', 1);
  return at.toISOString();
}

/** Status of the last job of each schedule, one statement for a list. */
export const loadLastStatus = (ctx: Context, key: string): Promise<string | null> =>
  ctx.load('schedule.last', key, async keys => {
    const rows = await ctx.sql<{ key: string; status: string }>(
      `select k.key, m.status from unnest($1::text[]) as k(key) cross join lateral (
         select status from jobs.job_meta where schedule_key = k.key order by created_at desc, id desc limit 1) m`,
      [keys],
    );
    return keys.map(one => rows.find(row => row.key === one)?.status ?? null);
  });

const SHOWN_RUNS = 5;

/** The next five times at which a schedule is due; none while it is not active. */
export function nextRuns(schedule: JobSchedule): Date[] {
  if (schedule.status !== JobScheduleStatus.ACTIVE) return [];
  const runs: Date[] = [];
  for (let at = schedule.nextRunAt; at && runs.length < SHOWN_RUNS; at = nextOf(schedule, at)) runs.push(at);
  return runs;
}
