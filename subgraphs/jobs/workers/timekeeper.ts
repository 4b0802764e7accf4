import { v5 } from 'uuid';
import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { nextOf } from '../../../runtime/time/cron.js';
import { earliestOf } from '../../../runtime/time/due.js';
import { lockSchedule } from '../../../runtime/jobs/pg-boss.js';
import type { Enqueued, NewJob } from '../../../runtime/jobs/engine.js';
import { JobSchedule } from '../entities/schedule.js';
import { JobOccurrenceState, JobScheduleMisfire, JobScheduleStatus } from '../entities/enums.js';
import { engineOf } from '../ports/engine.js';
import { besides, decide, jitterOf, type Decision } from '../rules/occurrences.js';
import { wake } from '../resolvers/enqueue.js';
import { PLACE_FREE } from '../queries/places.js';
import { ALARMS_DUE, raiseAlarms } from '../commands/alarms.js';

/** Name space of the ids of scheduled jobs, so that any number of instances sends an occurrence once. Source: jobs 7.4. */
const OCCURRENCES = '7b1f9c52-0d0e-5a43-9a0e-6f4c1d2b8e71';

export const occurrenceId = (key: string, due: Date): string => v5(`${key}\n${due.toISOString()}`, OCCURRENCES);

/** More occurrences than this are not written down one by one: a schedule that was away for years. */
const MAX_LOOKED_AT = 10_000;

/** Times from `first` up to now, the earliest of them where there are too many. */
function dueFrom(schedule: JobSchedule, first: Date | null, now: Date): Date[] {
  const due: Date[] = [];
  for (let at = first; at && at <= now && due.length < MAX_LOOKED_AT; at = nextOf(schedule, at)) due.push(at);
  return due;
}

/** Times from the one that is due up to now; of more than can be written down the latest, because those are caught up. */
function dueTimes(schedule: JobSchedule, now: Date): Date[] {
  let due = dueFrom(schedule, schedule.nextRunAt, now);
  for (let next = nextAfter(schedule, due); due.length >= MAX_LOOKED_AT && next && next <= now; next = nextAfter(schedule, due)) {
    const span = due.at(-1)!.getTime() - due[0]!.getTime();
    const skipped = nextOf(schedule, new Date(now.getTime() - span)); // about as many from there on
    due = [...due, ...dueFrom(schedule, skipped && skipped > next ? skipped : next, now)].slice(-MAX_LOOKED_AT);
  }
  return due;
}

const nextAfter = (schedule: JobSchedule, due: readonly Date[]): Date | null => {
  const last = due.at(-1);
  return last ? nextOf(schedule, last) : null;
};

const hasUnfinished = async (ctx: Context, key: string): Promise<boolean> =>
  (
    await ctx.sql(
      `select 1 from jobs.job_meta where schedule_key = $1 and status in ('scheduled', 'queued', 'running', 'retrying', 'cancelling') limit 1`,
      [key],
    )
  ).length > 0;

/** One row for each time that was due: whatever any process says later, it stands. */
const note = (ctx: Context, key: string, due: Date, state: JobOccurrenceState, jobId: string | null): Promise<unknown> =>
  ctx.sql(
    `insert into jobs.schedule_occurrence (schedule_key, due_at, state, job_id, noticed_at) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [key, due.toISOString(), state, jobId, ctx.now().toISOString()],
  );

async function send(ctx: Context, schedule: JobSchedule, due: Date): Promise<void> {
  const { key, queueName: queue, payload } = schedule;
  const way = besides(schedule.overlap, await hasUnfinished(ctx, key));
  if (way === 'skip') return void (await note(ctx, key, due, JobOccurrenceState.SKIPPED_OVERLAP, null));
  const id = occurrenceId(key, due);
  const later = jitterOf(id, schedule.jitterSeconds);
  const job: NewJob = {
    id,
    queue,
    payload,
    requested_by: 'system:jobs',
    schedule_key: key,
    occurrence_at: due.toISOString(),
    held: way === 'hold',
  };
  if (later) job.run_at = new Date(due.getTime() + later * 1000).toISOString();
  const [sent] = (await engineOf(ctx.host).enqueue(ctx.sql, [job], ctx.now())) as [Enqueued];
  // an exclusive queue has answered another job, which stands in this one's way
  const state = sent.id === id ? JobOccurrenceState.SENT : JobOccurrenceState.SKIPPED_OVERLAP;
  await note(ctx, key, due, state, sent.id);
  wake(ctx, [queue]);
}

/** Rows of those that are not sent, in one statement: there may be thousands. */
const noteMisfired = (ctx: Context, key: string, dues: readonly Date[]): Promise<unknown> =>
  ctx.sql(
    `insert into jobs.schedule_occurrence (schedule_key, due_at, state, noticed_at)
     select $1, due, 'misfired', $3 from unnest($2::timestamptz[]) as due on conflict do nothing`,
    [key, dues.map(due => due.toISOString()), ctx.now().toISOString()],
  );

const having = (decisions: readonly Decision[], state: JobOccurrenceState): Date[] =>
  decisions.filter(one => one.state === state).map(one => one.due);

async function tick(ctx: Context, schedule: JobSchedule): Promise<void> {
  await lockSchedule(ctx.sql, schedule.key);
  const due = dueTimes(schedule, ctx.now());
  const decisions = decide(due, ctx.now(), schedule);
  const missed = having(decisions, JobOccurrenceState.MISFIRED);
  if (missed.length) await noteMisfired(ctx, schedule.key, missed);
  for (const at of having(decisions, JobOccurrenceState.SENT)) await send(ctx, schedule, at);
  if (missed.length && schedule.misfire === JobScheduleMisfire.ALL)
    ctx.log.warn({ schedule: schedule.key, missed: missed.length }, 'a schedule was away for too long to catch up');
  schedule.lastRunAt = due.at(-1) ?? schedule.lastRunAt;
  schedule.nextRunAt = nextOf(schedule, ctx.now());
  if (!schedule.nextRunAt) schedule.status = JobScheduleStatus.FINISHED;
}

/** Sends what is due by the service's clock. Source: jobs 7.4-7.8. */
async function sendDue(ctx: Context): Promise<void> {
  const due = await ctx.sql<{ key: string }>(
    `select key from jobs.schedule where status = 'active' and next_run_at <= $1 order by next_run_at, key limit 100 for update skip locked`,
    [ctx.now().toISOString()],
  );
  if (!due.length) return;
  const schedules = await ctx.em.find(
    JobSchedule,
    { key: { $in: due.map(row => row.key) } },
    { orderBy: { nextRunAt: 'asc', key: 'asc' } },
  );
  for (const schedule of schedules) await tick(ctx, schedule);
}

/** Waits for its time only: on an exclusive queue one whose place is taken is looked at again when it is free. */
const WAITS = `m.status = 'scheduled' and not m.held and ${PLACE_FREE}`;

/** Jobs that waited for their time. */
async function queueDue(ctx: Context): Promise<void> {
  const due = await ctx.sql<{ id: string; queue: string }>(
    `select m.id, m.queue from jobs.job_meta m where ${WAITS} and run_at <= $1 order by run_at limit 1000 for update skip locked`,
    [ctx.now().toISOString()],
  );
  if (!due.length) return;
  await ctx.sql('select jobs.ready($1)', [due.map(row => row.id)]);
  wake(
    ctx,
    due.map(row => row.queue),
  );
}

/** All that time alone does here in one timer, so that an idle process keeps one connection for it. */
const dueTimer: Timer<Context> = {
  name: 'jobs.due',
  everySeconds: 1,
  next: ctx =>
    earliestOf(
      ctx,
      `select least((select min(next_run_at) from jobs.schedule where status = 'active'),
         (select m.run_at from jobs.job_meta m where ${WAITS} order by m.run_at limit 1), (${ALARMS_DUE})) as at`,
    ),
  run: async ctx => {
    await queueDue(ctx);
    await sendDue(ctx);
    await raiseAlarms(ctx);
  },
};

export const timers: readonly Timer<Context>[] = [dueTimer];
