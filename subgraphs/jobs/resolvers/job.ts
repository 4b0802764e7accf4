import { LockMode, type FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { releaseHeld } from '../../../runtime/jobs/pg-boss.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { move } from '../../../runtime/request/states.js';
import { Job, JobConnection, OwnJob, OwnJobConnection } from '../entities/job.js';
import { JobStatus, MEMBERS, OPERATORS, READERS } from '../entities/enums.js';
import { DiscardJobInput, JobsArgs, OperateJobInput } from '../inputs/job.js';
import { engineOf } from '../ports/engine.js';
import { isOver, JOB_STATES } from '../rules/states.js';
import { wake } from './enqueue.js';
import { progressOf } from './job-fields.js';
import { loadQueue } from '../queries/payload.js';
import { PLACE_FREE } from '../queries/places.js';
import { reasonOf } from '../queries/reason.js';

/** A long poll looks so often. */
const LOOK_MS = 200;

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

const stateOf = (job: Job): string => JSON.stringify([job.status, job.attempt, job.progressPercent, job.progressStep, job.progressMessage]);

/** Waits until the job's status or progress is another than now, or the time is over. */
async function changed(ctx: Context, job: Job, seconds: number): Promise<Job> {
  const before = stateOf(job);
  const deadline = performance.now() + seconds * 1000;
  while (!isOver(job.status) && stateOf(job) === before && performance.now() < deadline) {
    await pause(LOOK_MS);
    await ctx.em.refresh(job);
  }
  return job;
}

const filterOf = ({ queue, status, userId, scheduleKey, from, to }: JobsArgs): FilterQuery<Job> =>
  ({
    ...(queue && { queueName: queue }),
    ...(status?.length && { status: { $in: status } }),
    ...(userId && { userId: userId.toLowerCase() }),
    ...(scheduleKey && { scheduleKey }),
    ...((from || to) && { createdAt: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  }) as FilterQuery<Job>;

async function own(ctx: Context, job: Job): Promise<OwnJob> {
  const { id, status, createdAt, startedAt, finishedAt, queueName } = job;
  const queue = await loadQueue(ctx, queueName);
  return { id, status, createdAt, startedAt, finishedAt, title: queue!.title, progress: progressOf(job) };
}

async function lock(ctx: Context, id: string): Promise<Job> {
  const job = isUuid(id) ? await ctx.em.findOne(Job, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  return job ?? fail('not_found', 'Not found');
}

/** Erasure has taken the payload: there is nothing left to run. @throws Problem conflict. */
async function requirePayload(ctx: Context, id: string): Promise<void> {
  const [kept] = await ctx.sql('select 1 from jobs.job_meta where id = $1 and payload is not null', [id]);
  if (!kept) fail('conflict', 'a job whose payload was erased cannot be put back', { reason: 'payload_erased' });
}

/** One job of a key waits or runs on an exclusive queue. @throws Problem conflict. */
async function requirePlace(ctx: Context, { id }: Job): Promise<void> {
  const [taken] = await ctx.sql(`select 1 from jobs.job_meta m where m.id = $1 and not ${PLACE_FREE}`, [id]);
  if (taken) fail('conflict', 'another job of the queue waits or runs', { reason: 'queue_exclusive' });
}

@Resolver(() => Job)
export class JobResolver {
  @Access(READERS)
  @Query(() => JobConnection, { description: 'Jobs of all queues, newest first.' })
  jobs(@Args(() => JobsArgs) args: JobsArgs, @Ctx() ctx: Context): Promise<Connection<Job>> {
    return page<Job>(ctx.em, Job, filterOf(args), args, { time: 'createdAt' });
  }

  @Access(READERS)
  @Query(() => Job, { nullable: true, description: '`wait`: seconds until an unchanged job is answered, too.' })
  async job(
    @Arg('id', () => ID) id: string,
    @Rule({ min: 0, max: 20 })
    @Arg('wait', () => Int, { nullable: true })
    wait: number | null,
    @Ctx() ctx: Context,
  ): Promise<Job | null> {
    const job = isUuid(id) ? await ctx.em.findOne(Job, { id }) : null;
    return job && wait ? changed(ctx, job, wait) : job;
  }

  @Access(MEMBERS)
  @Query(() => OwnJobConnection, { description: 'Background work for oneself, newest first.' })
  async myJobs(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<OwnJob>> {
    const { nodes, pageInfo } = await page<Job>(ctx.em, Job, { userId: ctx.subject(null) }, args, { time: 'createdAt' });
    return { nodes: await Promise.all(nodes.map(job => own(ctx, job))), pageInfo };
  }

  @Access(MEMBERS)
  @Query(() => OwnJob, { nullable: true })
  async myJob(
    @Arg('id', () => ID) id: string,
    @Rule({ min: 0, max: 20 })
    @Arg('wait', () => Int, { nullable: true })
    wait: number | null,
    @Ctx() ctx: Context,
  ): Promise<OwnJob | null> {
    const job = isUuid(id) ? await ctx.em.findOne(Job, { id, userId: ctx.subject(null) }) : null;
    return job && own(ctx, wait ? await changed(ctx, job, wait) : job);
  }

  @Access(OPERATORS)
  @Mutation(() => Job, { description: 'Ends a job: at once while it waits; one that runs is told to (202).' })
  async cancelJob(@Arg('input', () => OperateJobInput) input: OperateJobInput, @Ctx() ctx: Context): Promise<Job> {
    const job = await lock(ctx, input.id);
    const was = job.status;
    job.status = move(JOB_STATES, 'job', was, 'cancel');
    ctx.audit('job.cancelled', job.id, { was, reason: reasonOf(ctx, input.reason) });
    if (job.status === JobStatus.CANCELLING) return this.#tell(ctx, job);
    job.finishedAt = ctx.now();
    job.held = false;
    await engineOf(ctx.host).withdraw(ctx.sql, job.queueName, [job.id]);
    await ctx.em.flush();
    await releaseHeld(ctx.sql, job.scheduleKey);
    return job;
  }

  async #tell(ctx: Context, job: Job): Promise<Job> {
    ctx.status(202);
    await ctx.em.flush();
    await ctx.sql(`update jobs.job_meta set cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()) where id = $1`, [
      job.id,
    ]);
    ctx.afterCommit(() => ctx.host.transport.hint('jobs', job.queueName, { cancel: job.id }));
    return ctx.em.refreshOrFail(job);
  }

  @Access(OPERATORS)
  @Mutation(() => Job, { description: 'Puts a dead or cancelled job back, attempts from 0.' })
  async retryJob(@Arg('input', () => OperateJobInput) input: OperateJobInput, @Ctx() ctx: Context): Promise<Job> {
    const job = await lock(ctx, input.id);
    move(JOB_STATES, 'job', job.status, 'retry');
    await requirePayload(ctx, job.id);
    await requirePlace(ctx, job);
    ctx.audit('job.retried', job.id, { was: job.status, error_code: job.errorCode, reason: reasonOf(ctx, input.reason) });
    await engineOf(ctx.host).redrive(ctx.sql, job.queueName, [job.id]);
    wake(ctx, [job.queueName]);
    return ctx.em.refreshOrFail(job);
  }

  @Access(OPERATORS)
  @Mutation(() => Job, { description: 'Gives a dead job up; its key goes on.' })
  async discardJob(@Arg('input', () => DiscardJobInput) { id, reason }: DiscardJobInput, @Ctx() ctx: Context): Promise<Job> {
    const job = await lock(ctx, id);
    job.status = move(JOB_STATES, 'job', job.status, 'discard');
    ctx.audit('job.discarded', job.id, { error_code: job.errorCode, reason });
    await engineOf(ctx.host).forget(ctx.sql, [job.id]);
    wake(ctx, [job.queueName]);
    return job;
  }
}
