import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { findRow } from '../../../runtime/data/rows.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { Job, JobConnection, JobCount, JobLogLine, JobProgress, OwnJob, OwnJobConnection } from '../entities/job.js';
import { JobQueue } from '../entities/queue.js';
import { ENQUEUERS, MEMBERS, OPERATORS, PAYLOAD_READERS, READERS, VIEWERS } from '../entities/enums.js';
import { DiscardJobInput, EnqueueJobInput, EnqueueJobsInput, JobArgs, JobsArgs, OperateJobInput } from '../inputs/job.js';
import { User } from '../stubs.js';
import { cancelJob, discardJob, enqueueJob, enqueueJobs, retryJob } from '../commands/job.js';
import { loadContents, loadLogs, ownJob, pageOfJobs, pageOfOwnJobs, progressOf, untilChanged } from '../queries/job.js';
import { loadQueue } from '../queries/queue.js';

@Resolver(() => Job)
export class JobResolver {
  @Access(READERS)
  @Query(() => JobConnection, { description: 'Jobs of all queues, newest first.' })
  jobs(@Args(() => JobsArgs) args: JobsArgs, @Ctx() ctx: Context): Promise<Connection<Job>> {
    return pageOfJobs(ctx, args);
  }

  @Access(READERS)
  @Query(() => Job, { nullable: true, description: '`wait`: seconds until an unchanged job is answered, too.' })
  async job(@Args(() => JobArgs) { id, wait }: JobArgs, @Ctx() ctx: Context): Promise<Job | null> {
    const job = await findRow(ctx, Job, { id });
    return job && wait ? untilChanged(ctx, job, wait) : job;
  }

  @Access(MEMBERS)
  @Query(() => OwnJobConnection, { description: 'Background work for oneself, newest first.' })
  myJobs(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<OwnJob>> {
    return pageOfOwnJobs(ctx, ctx.caller.userId!, args);
  }

  @Access(MEMBERS)
  @Query(() => OwnJob, { nullable: true })
  async myJob(@Args(() => JobArgs) { id, wait }: JobArgs, @Ctx() ctx: Context): Promise<OwnJob | null> {
    const job = await findRow(ctx, Job, { id, userId: ctx.caller.userId! });
    return job && ownJob(ctx, wait ? await untilChanged(ctx, job, wait) : job);
  }

  @Access(ENQUEUERS)
  @Mutation(() => Job, { description: 'Enqueues a job. The same dedupe key finds the job that is there.' })
  enqueueJob(@Arg('input', () => EnqueueJobInput) input: EnqueueJobInput, @Ctx() ctx: Context): Promise<Job> {
    return enqueueJob(ctx, input);
  }

  @Access(ENQUEUERS)
  @Mutation(() => JobCount, { description: 'Enqueues up to 1,000 jobs, all or none. Counted are the new ones.' })
  enqueueJobs(@Arg('input', () => EnqueueJobsInput) { jobs }: EnqueueJobsInput, @Ctx() ctx: Context): Promise<JobCount> {
    return enqueueJobs(ctx, jobs);
  }

  @Access(OPERATORS)
  @Mutation(() => Job, { description: 'Ends a job: at once while it waits; one that runs is told to (202).' })
  cancelJob(@Arg('input', () => OperateJobInput) input: OperateJobInput, @Ctx() ctx: Context): Promise<Job> {
    return cancelJob(ctx, input);
  }

  @Access(OPERATORS)
  @Mutation(() => Job, { description: 'Puts a dead or cancelled job back, attempts from 0.' })
  retryJob(@Arg('input', () => OperateJobInput) input: OperateJobInput, @Ctx() ctx: Context): Promise<Job> {
    return retryJob(ctx, input);
  }

  @Access(OPERATORS)
  @Mutation(() => Job, { description: 'Gives a dead job up; its key goes on.' })
  discardJob(@Arg('input', () => DiscardJobInput) input: DiscardJobInput, @Ctx() ctx: Context): Promise<Job> {
    return discardJob(ctx, input);
  }

  @Access(VIEWERS)
  @FieldResolver(() => JobQueue)
  async queue(@Root() { queueName }: Job, @Ctx() ctx: Context): Promise<JobQueue> {
    return (await loadQueue(ctx, queueName))!;
  }

  @Access(VIEWERS)
  @FieldResolver(() => User, { nullable: true })
  user(@Root() { userId }: Job): User | null {
    return userId === null ? null : { id: userId };
  }

  @Access(VIEWERS)
  @FieldResolver(() => JobProgress, { nullable: true })
  progress(@Root() job: Job): JobProgress | null {
    return progressOf(job);
  }

  @Access(VIEWERS)
  @FieldResolver(() => JSONObject, { nullable: true, description: 'Null to staff without admin:jobs:payload.' })
  async payload(@Root() { id }: Job, @Ctx() ctx: Context): Promise<unknown> {
    return mayReadPayload(ctx) ? ((await loadContents(ctx, id))?.payload ?? null) : null;
  }

  @Access(VIEWERS)
  @FieldResolver(() => JSONObject, { nullable: true, description: 'Null to staff without admin:jobs:payload.' })
  async output(@Root() { id }: Job, @Ctx() ctx: Context): Promise<unknown> {
    return mayReadPayload(ctx) ? ((await loadContents(ctx, id))?.output ?? null) : null;
  }

  @Access(READERS)
  @FieldResolver(() => [JobLogLine], { description: 'Oldest first, at most 1,000.' })
  logs(@Root() { id }: Job, @Ctx() ctx: Context): Promise<JobLogLine[]> {
    return loadLogs(ctx, id);
  }
}

const mayReadPayload = (ctx: Context): boolean => mayAccess(ruleOf(PAYLOAD_READERS), ctx.caller);
