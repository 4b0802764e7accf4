import { v5 } from 'uuid';
import type { Context } from '../../../runtime/request/context.js';
import { lockSchedule } from '../../../runtime/jobs/pg-boss.js';
import type { Enqueued, NewJob } from '../../../runtime/jobs/engine.js';
import { nextOf } from '../../../runtime/time/cron.js';
import { after, SECOND_MS } from '../../../runtime/time/durations.js';
import { JobSchedule } from '../entities/schedule.js';
import { JobOccurrenceState, JobScheduleMisfire } from '../entities/enums.js';
import { besides, decide, jitterOf, type Decision } from '../rules/occurrences.js';
import { move } from '../../../runtime/request/states.js';
import { SCHEDULE_STATES } from '../rules/states.js';
import { enqueueAll } from './job.js';

/** Name space of the ids of scheduled jobs, so that any number of instances sends an occurrence once. Source: jobs 7.4. */
const OCCURRENCES = '7b1f9c52-0d0e-5a43-9a0e-6f4c1d2b8e71';

const occurrenceId = (key: string, due: Date): string => v5(`${key}\n${due.toISOString()}`, OCCURRENCES);

/** More occurrences than this are not written down one by one: a schedule that was away for years. */
const MAX_LOOKED_AT = 10_000;

const DUE = `select key from jobs.schedule where status = 'active' and next_run_at <= $1 order by next_run_at, key limit 100 for update skip locked`;

/** Sends what is due by the service's clock. Source: jobs 7.4-7.8. */
export async function sendDueOccurrences(ctx: Context): Promise<void> {
  const due = await ctx.sql<{ key: string }>(DUE, [ctx.now().toISOString()]);
  if (!due.length) return;
  const keys = due.map(row => row.key);
  const schedules = await ctx.em.find(JobSchedule, { key: { $in: keys } }, { orderBy: { nextRunAt: 'asc', key: 'asc' } });
  for (const schedule of schedules) await sendDueOf(ctx, schedule);
}

async function sendDueOf(ctx: Context, schedule: JobSchedule): Promise<void> {
  await lockSchedule(ctx.sql, schedule.key);
  const due = dueTimes(schedule, ctx.now());
  const decisions = decide(due, ctx.now(), schedule);
  const missed = timesWith(decisions, JobOccurrenceState.MISFIRED);
  if (missed.length) await noteMisfired(ctx, schedule.key, missed);
  for (const at of timesWith(decisions, JobOccurrenceState.SENT)) await send(ctx, schedule, at);
  if (missed.length && schedule.misfire === JobScheduleMisfire.ALL)
    ctx.log.warn({ schedule: schedule.key, missed: missed.length }, 'a schedule was away for too long to catch up');
  schedule.lastRunAt = due.at(-1) ?? schedule.lastRunAt;
  schedule.nextRunAt = nextOf(schedule, ctx.now());
  if (!schedule.nextRunAt) schedule.status = move(SCHEDULE_STATES, 'schedule', schedule.status, 'end');
}

const timesWith = (decisions: readonly Decision[], state: JobOccurrenceState): Date[] =>
  decisions.filter(one => one.state === state).map(one => one.due);

/** Times from the one that is due up to now; of more than can be written down the latest, because those are caught up. */
function dueTimes(schedule: JobSchedule, now: Date): Date[] {
  let due = dueFrom(schedule, schedule.nextRunAt, now);
  for (let next = nextAfter(schedule, due); due.length >= MAX_LOOKED_AT && next && next <= now; next = nextAfter(schedule, due)) {
    const span = due.at(-1)!.getTime() - due[0]!.getTime();
    const skipped = nextOf(schedule, after(now, -span)); // about as many from there on
    due = [...due, ...dueFrom(schedule, skipped && skipped > next ? skipped : next, now)].slice(-MAX_LOOKED_AT);
  }
  return due;
}

/** Times from `first` up to now, the earliest of them where there are too many. */
function dueFrom(schedule: JobSchedule, first: Date | null, now: Date): Date[] {
  const due: Date[] = [];
  for (let at = first; at && at <= now && due.length < MAX_LOOKED_AT; at = nextOf(schedule, at)) due.push(at);
  return due;
}

function nextAfter(schedule: JobSchedule, due: readonly Date[]): Date | null {
  const last = due.at(-1);
  return last ? nextOf(schedule, last) : null;
}

async function send(ctx: Context, schedule: JobSchedule, due: Date): Promise<void> {
  const { key } = schedule;
  const way = besides(schedule.overlap, await hasUnfinished(ctx, key));
  if (way === 'skip') return note(ctx, key, due, JobOccurrenceState.SKIPPED_OVERLAP, null);
  const job = jobOf(schedule, due, way === 'hold');
  const [sent] = (await enqueueAll(ctx, [job])) as [Enqueued];
  // an exclusive queue has answered another job, which stands in this one's way
  const state = sent.id === job.id ? JobOccurrenceState.SENT : JobOccurrenceState.SKIPPED_OVERLAP;
  await note(ctx, key, due, state, sent.id);
}

function jobOf({ key, queueName: queue, payload, jitterSeconds }: JobSchedule, due: Date, held: boolean): NewJob {
  const id = occurrenceId(key, due);
  const later = jitterOf(id, jitterSeconds);
  return {
    id,
    queue,
    payload,
    requested_by: 'system:jobs',
    schedule_key: key,
    occurrence_at: due.toISOString(),
    held,
    ...(later > 0 && { run_at: after(due, later * SECOND_MS).toISOString() }),
  };
}

async function hasUnfinished(ctx: Context, key: string): Promise<boolean> {
  const [found] = await ctx.sql(
    `select 1 from jobs.job_meta where schedule_key = $1 and status in ('scheduled', 'queued', 'running', 'retrying', 'cancelling') limit 1`,
    [key],
  );
  return found !== undefined;
}

/** One row for each time that was due: whatever another process decides later, it stands. */
async function note(ctx: Context, key: string, due: Date, state: JobOccurrenceState, jobId: string | null): Promise<void> {
  await ctx.sql(
    `insert into jobs.schedule_occurrence (schedule_key, due_at, state, job_id, noticed_at) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [key, due.toISOString(), state, jobId, ctx.now().toISOString()],
  );
}

/** Rows of those that are not sent, in one statement: there may be thousands. */
async function noteMisfired(ctx: Context, key: string, dues: readonly Date[]): Promise<void> {
  await ctx.sql(
    `insert into jobs.schedule_occurrence (schedule_key, due_at, state, noticed_at)
     select $1, due, 'misfired', $3 from unnest($2::timestamptz[]) as due on conflict do nothing`,
    [key, dues.map(due => due.toISOString()), ctx.now().toISOString()],
  );
}
