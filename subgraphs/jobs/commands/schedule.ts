import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import { lockRow, requireVersion } from '../../../runtime/data/rows.js';
import { move } from '../../../runtime/request/states.js';
import type { Enqueued } from '../../../runtime/jobs/engine.js';
import { isCron, isTimeZone, nextOf } from '../../../runtime/time/cron.js';
import { durationMs } from '../../../runtime/time/durations.js';
import { Job } from '../entities/job.js';
import { JobSchedule } from '../entities/schedule.js';
import { JobScheduleSource, JobScheduleStatus } from '../entities/enums.js';
import type { CreateJobScheduleInput, OperateJobScheduleArgs, UpdateJobScheduleInput } from '../inputs/schedule.js';
import { timeViolations } from '../rules/schedule.js';
import { SCHEDULE_STATES } from '../rules/states.js';
import { requireQueue, violationsOf } from '../queries/queue.js';
import { enqueueAll } from './job.js';
import { requireReason } from './reason.js';

function requireOperators({ source }: JobSchedule): void {
  if (source === JobScheduleSource.CODE) fail('conflict', 'a schedule that stands in code can only be paused', { reason: 'code_schedule' });
}

/** @throws Problem not_found for its queue, invalid_request with every violation. */
async function requireSound(ctx: Context, schedule: JobSchedule): Promise<void> {
  const { cron, every, timeZone, payload } = schedule;
  const readable = {
    cron: cron !== null && isCron(cron),
    everyMs: every === null ? null : durationMs(every),
    timeZone: isTimeZone(timeZone),
  };
  const queue = await requireQueue(ctx, schedule.queueName);
  requireValid([...timeViolations(schedule, readable, ctx.now()), ...violationsOf(queue, payload, '/input/payload')]);
}

/** @throws Problem as {@link requireSound}, conflict where the key is taken. */
export async function createSchedule(ctx: Context, input: CreateJobScheduleInput): Promise<JobSchedule> {
  const { queue: queueName, timeZone, payload, reason = null, cron, every, at, ...rest } = input;
  const schedule = Object.assign(new JobSchedule(), rest, {
    queueName,
    cron: cron ?? null,
    every: every ?? null,
    at: at ?? null,
    payload: payload ?? {},
    timeZone: timeZone ?? 'UTC',
    status: JobScheduleStatus.ACTIVE,
    source: JobScheduleSource.OPERATOR,
    anchor: ctx.now(),
    createdAt: ctx.now(),
  });
  await requireSound(ctx, schedule);
  if (await ctx.em.findOne(JobSchedule, { key: input.key })) fail('conflict', 'The key is taken');
  schedule.nextRunAt = nextOf(schedule, ctx.now());
  ctx.em.persist(schedule);
  ctx.audit('job_schedule.created', schedule.key, { queue: queueName, reason });
  return schedule;
}

/** What is left out stays; of when it is due, null takes a way out. @throws Problem not_found, conflict, and as {@link requireSound}. */
export async function updateSchedule(ctx: Context, input: UpdateJobScheduleInput): Promise<JobSchedule> {
  const { key, version, cron, every, at, reason: given, ...rest } = input;
  const reason = requireReason(ctx, given);
  const schedule = await lockRow(ctx, JobSchedule, { key });
  requireOperators(schedule);
  requireVersion(schedule, version);
  const isMoved = [cron, every, at, rest.timeZone].some(one => one !== undefined);
  Object.assign(schedule, having({ cron, every, at }, undefined), having(having(rest, undefined), null));
  if (isMoved || rest.payload !== undefined) await requireSound(ctx, schedule);
  if (isMoved) replan(schedule, ctx.now());
  const changed = Object.keys(input).filter(name => !['key', 'version', 'reason'].includes(name));
  ctx.audit('job_schedule.updated', key, { changed, reason });
  return schedule;
}

const having = (values: object, but: null | undefined): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== but));

/** A change of expression never fires for the past. Source: jobs 7.6. */
function replan(schedule: JobSchedule, now: Date): void {
  schedule.anchor = now;
  schedule.nextRunAt = nextOf(schedule, now);
  if (schedule.status === JobScheduleStatus.FINISHED && schedule.nextRunAt) schedule.status = JobScheduleStatus.ACTIVE;
}

/** @throws Problem not_found, conflict for a schedule that stands in code. */
export async function deleteSchedule(ctx: Context, key: string, reason: string | null): Promise<JobSchedule> {
  const schedule = await lockRow(ctx, JobSchedule, { key });
  requireOperators(schedule);
  ctx.em.remove(schedule);
  ctx.audit('job_schedule.deleted', key, { reason });
  return schedule;
}

/** @throws Problem not_found, conflict unless it is active. */
export async function pauseSchedule(ctx: Context, { key, reason: given }: OperateJobScheduleArgs): Promise<JobSchedule> {
  const reason = requireReason(ctx, given, '/reason');
  const schedule = await lockRow(ctx, JobSchedule, { key });
  schedule.status = move(SCHEDULE_STATES, 'schedule', schedule.status, 'be_paused');
  ctx.audit('job_schedule.paused', key, { reason });
  return schedule;
}

/** Goes on with the next time that is due. @throws Problem not_found, conflict unless it is paused. */
export async function resumeSchedule(ctx: Context, { key, reason: given }: OperateJobScheduleArgs): Promise<JobSchedule> {
  const reason = requireReason(ctx, given, '/reason');
  const schedule = await lockRow(ctx, JobSchedule, { key });
  const status = move(SCHEDULE_STATES, 'schedule', schedule.status, 'be_resumed');
  schedule.nextRunAt = nextOf(schedule, ctx.now());
  schedule.status = schedule.nextRunAt ? status : move(SCHEDULE_STATES, 'schedule', status, 'end');
  ctx.audit('job_schedule.resumed', key, { reason });
  return schedule;
}

/** Enqueues an extra job; one that an exclusive queue has already is answered with status 200. @throws Problem not_found. */
export async function runScheduleNow(ctx: Context, { key, reason: given }: OperateJobScheduleArgs): Promise<Job> {
  const reason = requireReason(ctx, given, '/reason');
  const { queueName: queue, payload } = await lockRow(ctx, JobSchedule, { key });
  const job = { id: newId(), queue, payload, schedule_key: key, requested_by: actorOf(ctx.caller) };
  const [{ id, existing }] = (await enqueueAll(ctx, [job])) as [Enqueued];
  if (existing) ctx.status(200);
  ctx.audit('job_schedule.run', key, { job_id: id, existing, reason });
  return ctx.em.findOneOrFail(Job, { id });
}

/** Each sync run once, and none after a later one. */
const SYNCED = `
update jobs.schedule set last_status = $2, last_sync_run = $3, last_sync_at = $4 where split_part(key, '.', 1) = 'partner' and payload->>'entity' = $1
  and (last_sync_at is null or (last_sync_at < $4 and last_sync_run <> $3))`;

/** A sync run of the partner service tells how it ended; the job that began it only knows that it began. @param at RFC 3339. */
export async function noteSync(ctx: Context, run: { entity: string; status: string; run_id: string }, at: string): Promise<void> {
  await ctx.sql(SYNCED, [run.entity, run.status, run.run_id, at]);
}
