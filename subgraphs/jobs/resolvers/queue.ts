import { Arg, Args, Ctx, FieldResolver, Float, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { findRow } from '../../../runtime/data/rows.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { JobCount } from '../entities/job.js';
import { JobQueue, JobQueueConnection, JobsOverview, JobWorker } from '../entities/queue.js';
import { OPERATORS, READERS, VIEWERS } from '../entities/enums.js';
import { OperateJobQueueArgs, RetryDeadJobsInput, UpdateJobQueueInput } from '../inputs/queue.js';
import { retryDeadJobs, setPaused, updateQueue } from '../commands/queue.js';
import { allWorkers, figuresOfQueues, loadFigures, pageOfQueues } from '../queries/queue.js';

@Resolver(() => JobQueue)
export class QueueResolver {
  @Access(READERS)
  @Query(() => JobQueueConnection, { description: 'Queues by name.' })
  jobQueues(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<JobQueue>> {
    return pageOfQueues(ctx, args);
  }

  @Access(READERS)
  @Query(() => JobQueue, { nullable: true })
  jobQueue(@Rule({ maxLength: 128 }) @Arg('name', () => String) name: string, @Ctx() ctx: Context): Promise<JobQueue | null> {
    return findRow(ctx, JobQueue, { name });
  }

  @Access(READERS)
  @Query(() => JobsOverview, { description: 'How every queue does.' })
  async jobsOverview(@Ctx() ctx: Context): Promise<JobsOverview> {
    return { queues: await figuresOfQueues(ctx, null) };
  }

  @Access(READERS)
  @Query(() => [JobWorker], { description: 'Processes that work queues, and which of them are silent.' })
  jobWorkers(@Ctx() ctx: Context): Promise<JobWorker[]> {
    return allWorkers(ctx);
  }

  @Access(OPERATORS)
  @Mutation(() => JobQueue, { description: 'Overrides settings of a queue until the next override; its policy never changes.' })
  updateJobQueue(@Arg('input', () => UpdateJobQueueInput) input: UpdateJobQueueInput, @Ctx() ctx: Context): Promise<JobQueue> {
    return updateQueue(ctx, input);
  }

  @Access(OPERATORS)
  @Mutation(() => JobQueue, { description: 'No job of the queue begins; running ones finish.' })
  pauseJobQueue(@Args(() => OperateJobQueueArgs) args: OperateJobQueueArgs, @Ctx() ctx: Context): Promise<JobQueue> {
    return setPaused(ctx, args, true);
  }

  @Access(OPERATORS)
  @Mutation(() => JobQueue)
  resumeJobQueue(@Args(() => OperateJobQueueArgs) args: OperateJobQueueArgs, @Ctx() ctx: Context): Promise<JobQueue> {
    return setPaused(ctx, args, false);
  }

  @Access(OPERATORS)
  @Mutation(() => JobCount, { description: 'Puts dead jobs of a queue back, oldest first; not those whose payload was erased.' })
  retryDeadJobs(@Arg('input', () => RetryDeadJobsInput) input: RetryDeadJobsInput, @Ctx() ctx: Context): Promise<JobCount> {
    return retryDeadJobs(ctx, input);
  }

  @Access(VIEWERS)
  @FieldResolver(() => Int, { description: 'Jobs that wait for a worker.' })
  async depth(@Root() { name }: JobQueue, @Ctx() ctx: Context): Promise<number> {
    return (await loadFigures(ctx, name)).depth;
  }

  @Access(VIEWERS)
  @FieldResolver(() => Int, { nullable: true })
  async oldestReadySeconds(@Root() { name }: JobQueue, @Ctx() ctx: Context): Promise<number | null> {
    return (await loadFigures(ctx, name)).oldestReadySeconds;
  }

  @Access(VIEWERS)
  @FieldResolver(() => Float, { description: 'Of the last hour, 0 to 1.' })
  async failureRate(@Root() { name }: JobQueue, @Ctx() ctx: Context): Promise<number> {
    return (await loadFigures(ctx, name)).failureRate;
  }

  @Access(VIEWERS)
  @FieldResolver(() => Int)
  async deadCount(@Root() { name }: JobQueue, @Ctx() ctx: Context): Promise<number> {
    return (await loadFigures(ctx, name)).deadCount;
  }
}
