import { LockMode, type FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import { durationMs } from '../../../runtime/time/durations.js';
import { Context } from '../../../runtime/request/context.js';
import { isCron, isTimeZone, nextOf } from '../../../runtime/time/cron.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import type { Enqueued } from '../../../runtime/jobs/engine.js';
import { decodeCursor, toConnection, type Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { DateTime, JSONObject } from '../../../runtime/schema/scalars.js';
import { Job } from '../entities/job.js';
import { JobQueue } from '../entities/queue.js';
import { JobOccurrence, JobOccurrenceConnection, JobSchedule, JobScheduleConnection } from '../entities/schedule.js';
import { JobScheduleSource, JobScheduleStatus, PAYLOAD_READERS, PLANNERS, READERS, VIEWERS } from '../entities/enums.js';
import { REASON, WHY } from '../inputs/job.js';
import { CreateJobScheduleInput, JobOccurrencesArgs, JobSchedulesArgs, UpdateJobScheduleInput } from '../inputs/schedule.js';
import { engineOf } from '../ports/engine.js';
import { timeViolations, type Times } from '../rules/schedule.js';
import { wake } from './enqueue.js';
import { loadQueue, requireQueue, violationsOf } from '../queries/payload.js';
import { reasonOf } from '../queries/reason.js';
import { requireVersion } from '../../../runtime/data/rows.js';

const SHOWN_RUNS = 5;

async function lock(ctx: Context, key: string): Promise<JobSchedule> {
  const schedule = await ctx.em.findOne(JobSchedule, { key }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return schedule ?? fail('not_found', 'Not found');
}

function requireOperators({ source }: JobSchedule): void {
  if (source === JobScheduleSource.CODE) fail('conflict', 'a schedule that stands in code can only be paused', { reason: 'code_schedule' });
}

/** @throws Problem invalid_request naming everything that is wrong. */
async function requireSound(ctx: Context, schedule: JobSchedule): Promise<void> {
  const { cron, every, timeZone } = schedule;
  const readable = {
    cron: cron != null && isCron(cron),
    everyMs: every == null ? null : durationMs(every),
    timeZone: isTimeZone(timeZone),
  };
  const queue = await requireQueue(ctx, schedule.queueName);
  const errors = [...timeViolations(schedule as Times, readable, ctx.now()), ...violationsOf(queue, schedule.payload, '/input/payload')];
  requireValid(errors);
}

const wheres = ({ queue, status, after }: JobSchedulesArgs): FilterQuery<JobSchedule> =>
  ({
    ...(queue && { queueName: queue }),
    ...(status && { status }),
    ...(after && { key: { $gt: String(decodeCursor(after, 1)[0]) } }),
  }) as FilterQuery<JobSchedule>;

@Resolver(() => JobSchedule)
export class ScheduleResolver {
  @Access(READERS)
  @Query(() => JobScheduleConnection, { description: 'Schedules by key.' })
  async jobSchedules(@Args(() => JobSchedulesArgs) args: JobSchedulesArgs, @Ctx() ctx: Context): Promise<Connection<JobSchedule>> {
    const rows = await ctx.em.find(JobSchedule, wheres(args), { orderBy: { key: 'asc' }, limit: args.first + 1 });
    return toConnection(rows, args.first, schedule => [schedule.key]);
  }

  @Access(READERS)
  @Query(() => JobSchedule, { nullable: true })
  jobSchedule(@Rule({ maxLength: 128 }) @Arg('key', () => ID) key: string, @Ctx() ctx: Context): Promise<JobSchedule | null> {
    return ctx.em.findOne(JobSchedule, { key });
  }

  @Access(READERS)
  @Query(() => JobOccurrenceConnection, { nullable: true, description: 'Why it ran, or did not: newest first.' })
  async jobOccurrences(
    @Args(() => JobOccurrencesArgs) { key, state, first, after }: JobOccurrencesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<JobOccurrence> | null> {
    if (!(await ctx.em.findOne(JobSchedule, { key }))) return null;
    const rows = await ctx.sql<{ key: string; due: string; state: never; job: string | null }>(
      `select schedule_key as key, to_char(due_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as due, state, job_id as job from jobs.schedule_occurrence
       where schedule_key = $1 and ($2::text is null or state = $2) and ($3::timestamptz is null or due_at < $3) order by due_at desc limit $4`,
      [key, state ?? null, after ? this.#instant(after) : null, first + 1],
    );
    const occurrences = rows.map(row => ({ scheduleKey: row.key, dueAt: new Date(row.due), state: row.state, jobId: row.job }));
    return toConnection(occurrences, first, one => [one.dueAt.toISOString()]);
  }

  #instant(after: string): string {
    const at = new Date(String(decodeCursor(after, 1)[0]));
    return Number.isNaN(at.getTime()) ? (decodeCursor('', 1) as never) : at.toISOString();
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule)
  async createJobSchedule(
    @Arg('input', () => CreateJobScheduleInput) input: CreateJobScheduleInput,
    @Ctx() ctx: Context,
  ): Promise<JobSchedule> {
    const { queue: queueName, timeZone, payload, reason = null, ...rest } = input;
    const given = { ...rest, cron: rest.cron ?? null, every: rest.every ?? null, at: rest.at ?? null };
    const schedule = ctx.em.create(
      JobSchedule,
      {
        ...given,
        queueName,
        payload: payload ?? {},
        timeZone: timeZone ?? 'UTC',
        status: JobScheduleStatus.ACTIVE,
        source: JobScheduleSource.OPERATOR,
        anchor: ctx.now(),
        createdAt: ctx.now(),
      } as never,
      { persist: false },
    );
    await requireSound(ctx, schedule);
    if (await ctx.em.findOne(JobSchedule, { key: input.key })) fail('conflict', 'The key is taken');
    schedule.nextRunAt = nextOf(schedule, ctx.now());
    ctx.em.persist(schedule);
    ctx.audit('job_schedule.created', schedule.key, { queue: queueName, reason });
    return schedule;
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule)
  async updateJobSchedule(
    @Arg('input', () => UpdateJobScheduleInput) input: UpdateJobScheduleInput,
    @Ctx() ctx: Context,
  ): Promise<JobSchedule> {
    const { key, version, cron, every, at, reason: given, ...rest } = input;
    const reason = reasonOf(ctx, given);
    const schedule = await lock(ctx, key);
    requireOperators(schedule);
    requireVersion(schedule, version);
    const moved = [cron, every, at, rest.timeZone].some(one => one !== undefined);
    const times = Object.fromEntries(Object.entries({ cron, every, at }).filter(([, value]) => value !== undefined));
    Object.assign(schedule, times, Object.fromEntries(Object.entries(rest).filter(([, value]) => value != null)));
    if (moved || rest.payload !== undefined) await requireSound(ctx, schedule);
    if (moved) this.#replan(schedule, ctx.now());
    ctx.audit('job_schedule.updated', key, {
      changed: Object.keys(input).filter(name => !['key', 'version', 'reason'].includes(name)),
      reason,
    });
    return schedule;
  }

  /** A change of expression never fires for the past. Source: jobs 7.6. */
  #replan(schedule: JobSchedule, now: Date): void {
    schedule.anchor = now;
    schedule.nextRunAt = nextOf(schedule, now);
    if (schedule.status === JobScheduleStatus.FINISHED && schedule.nextRunAt) schedule.status = JobScheduleStatus.ACTIVE;
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule)
  async deleteJobSchedule(
    @Rule({ maxLength: 128 })
    @Arg('key', () => ID)
    key: string,
    @Rule(REASON)
    @Arg('reason', () => String, { nullable: true, description: 'For the audit.' })
    reason: string | null,
    @Ctx() ctx: Context,
  ): Promise<JobSchedule> {
    const schedule = await lock(ctx, key);
    requireOperators(schedule);
    ctx.em.remove(schedule);
    ctx.audit('job_schedule.deleted', key, { reason });
    return schedule;
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule)
  async pauseJobSchedule(
    @Rule({ maxLength: 128 })
    @Arg('key', () => ID)
    key: string,
    @Rule(REASON)
    @Arg('reason', () => String, { nullable: true, description: WHY })
    given: string | null,
    @Ctx() ctx: Context,
  ): Promise<JobSchedule> {
    const reason = reasonOf(ctx, given, '/reason');
    const schedule = await lock(ctx, key);
    if (schedule.status !== JobScheduleStatus.ACTIVE) fail('conflict', `a schedule that is ${schedule.status} cannot be paused`);
    schedule.status = JobScheduleStatus.PAUSED;
    ctx.audit('job_schedule.paused', key, { reason });
    return schedule;
  }

  @Access(PLANNERS)
  @Mutation(() => JobSchedule, { description: 'Goes on with the next time that is due; what was missed while paused is not sent.' })
  async resumeJobSchedule(
    @Rule({ maxLength: 128 })
    @Arg('key', () => ID)
    key: string,
    @Rule(REASON)
    @Arg('reason', () => String, { nullable: true, description: WHY })
    given: string | null,
    @Ctx() ctx: Context,
  ): Promise<JobSchedule> {
    const reason = reasonOf(ctx, given, '/reason');
    const schedule = await lock(ctx, key);
    if (schedule.status !== JobScheduleStatus.PAUSED) fail('conflict', `a schedule that is ${schedule.status} cannot be resumed`);
    schedule.nextRunAt = nextOf(schedule, ctx.now());
    schedule.status = schedule.nextRunAt ? JobScheduleStatus.ACTIVE : JobScheduleStatus.FINISHED;
    ctx.audit('job_schedule.resumed', key, { reason });
    return schedule;
  }

  @Access(PLANNERS)
  @Mutation(() => Job, {
    description: 'Enqueues an extra job; the next run stays as planned. A queue of one job at a time answers the job that is there.',
  })
  async runJobScheduleNow(
    @Rule({ maxLength: 128 })
    @Arg('key', () => ID)
    key: string,
    @Rule(REASON)
    @Arg('reason', () => String, { nullable: true, description: WHY })
    given: string | null,
    @Ctx() ctx: Context,
  ): Promise<Job> {
    const reason = reasonOf(ctx, given, '/reason');
    const { queueName, payload } = await lock(ctx, key);
    const job = { id: newId(), queue: queueName, payload, schedule_key: key, requested_by: actorOf(ctx.caller) };
    const [{ id, existing }] = (await engineOf(ctx.host).enqueue(ctx.sql, [job], ctx.now())) as [Enqueued];
    if (existing) ctx.status(200);
    ctx.audit('job_schedule.run', key, { job_id: id, existing, reason });
    wake(ctx, [queueName]);
    return ctx.em.findOneOrFail(Job, { id });
  }

  @Access(VIEWERS)
  @FieldResolver(() => JobQueue)
  async queue(@Root() { queueName }: JobSchedule, @Ctx() ctx: Context): Promise<JobQueue> {
    return (await loadQueue(ctx, queueName))!;
  }

  @Access(VIEWERS)
  @FieldResolver(() => JSONObject, { nullable: true, description: 'Null to staff without admin:jobs:payload.' })
  payload(@Root() { payload }: JobSchedule, @Ctx() ctx: Context): unknown {
    return mayAccess(ruleOf(PAYLOAD_READERS), ctx.caller) ? payload : null;
  }

  @Access(VIEWERS)
  @FieldResolver(() => String, { nullable: true, description: 'What its own run has said, else the status of its last job.' })
  async lastStatus(@Root() { key, lastStatus }: JobSchedule, @Ctx() ctx: Context): Promise<string | null> {
    return lastStatus ?? (await ctx.load('schedule.last', key, keys => this.#lastStatuses(ctx, keys)));
  }

  async #lastStatuses(ctx: Context, keys: readonly string[]): Promise<(string | null)[]> {
    const rows = await ctx.sql<{ key: string; status: string }>(
      `select k.key, m.status from unnest($1::text[]) as k(key) cross join lateral (
         select status from jobs.job_meta where schedule_key = k.key order by created_at desc, id desc limit 1) m`,
      [keys],
    );
    return keys.map(key => rows.find(row => row.key === key)?.status ?? null);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [DateTime], { description: 'The next five times at which it is due.' })
  nextRuns(@Root() schedule: JobSchedule): Date[] {
    if (schedule.status !== JobScheduleStatus.ACTIVE) return [];
    const runs: Date[] = [];
    for (let at = schedule.nextRunAt; at && runs.length < SHOWN_RUNS; at = nextOf(schedule, at)) runs.push(at);
    return runs;
  }
}
