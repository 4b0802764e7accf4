import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { decodeCursor, PageArgs, toConnection, type Connection } from '../../../runtime/request/paging.js';
import type { QueueSettings } from '../../../runtime/jobs/queue.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { JobCount } from '../entities/job.js';
import { JobQueue, JobQueueConnection } from '../entities/queue.js';
import { JobQueuePolicy, OPERATORS, READERS } from '../entities/enums.js';
import { REASON, WHY } from '../inputs/job.js';
import { RetryDeadJobsInput, UpdateJobQueueInput } from '../inputs/queue.js';
import { engineOf } from '../ports/engine.js';
import { wake } from './enqueue.js';
import { PLACE_FREE } from '../queries/places.js';
import { reasonOf } from '../queries/reason.js';
import { requireVersion } from '../../../runtime/data/rows.js';

/** Settings by field, and the columns that note that an operator has set them. */
const SETTINGS = {
  retryLimit: 'retry_limit',
  retryDelaySeconds: 'retry_delay_seconds',
  retryBackoff: 'retry_backoff',
  timeoutSeconds: 'timeout_seconds',
  heartbeatSeconds: 'heartbeat_seconds',
  concurrency: 'concurrency',
  perKeyConcurrency: 'per_key_concurrency',
  retentionDays: 'retention_days',
} as const satisfies Record<keyof QueueSettings, string>;

async function lock(ctx: Context, name: string): Promise<JobQueue> {
  const queue = await ctx.em.findOne(JobQueue, { name }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return queue ?? fail('not_found', 'There is no such queue');
}

const settingsOf = (queue: JobQueue): QueueSettings =>
  Object.fromEntries(Object.keys(SETTINGS).map(key => [key, queue[key as keyof QueueSettings]])) as never;

const firstOfKeys = <Row extends { group_key: string | null }>(rows: readonly Row[]): Row[] =>
  rows.filter((row, index) => rows.findIndex(one => one.group_key === row.group_key) === index);

@Resolver(() => JobQueue)
export class QueueResolver {
  @Access(READERS)
  @Query(() => JobQueueConnection, { description: 'Queues by name.' })
  async jobQueues(@Args(() => PageArgs) { first, after }: PageArgs, @Ctx() ctx: Context): Promise<Connection<JobQueue>> {
    const where = after ? { name: { $gt: String(decodeCursor(after, 1)[0]) } } : {};
    const rows = await ctx.em.find(JobQueue, where, { orderBy: { name: 'asc' }, limit: first + 1 });
    return toConnection(rows, first, queue => [queue.name]);
  }

  @Access(READERS)
  @Query(() => JobQueue, { nullable: true })
  jobQueue(@Rule({ maxLength: 128 }) @Arg('name', () => String) name: string, @Ctx() ctx: Context): Promise<JobQueue | null> {
    return ctx.em.findOne(JobQueue, { name });
  }

  @Access(OPERATORS)
  @Mutation(() => JobQueue, { description: 'Overrides settings of a queue until the next override; its policy never changes.' })
  async updateJobQueue(@Arg('input', () => UpdateJobQueueInput) input: UpdateJobQueueInput, @Ctx() ctx: Context): Promise<JobQueue> {
    const { name, version, reason, ...given } = input;
    const why = reasonOf(ctx, reason);
    const queue = await lock(ctx, name);
    requireVersion(queue, version);
    const changes = Object.entries(given).filter(([, value]) => value !== undefined && value !== null) as [keyof QueueSettings, never][];
    for (const [key, value] of changes) queue[key] = value;
    if (given.perKeyConcurrency === null) queue.perKeyConcurrency = null;
    const set = Object.keys(given).filter(key => given[key as keyof typeof given] !== undefined) as (keyof typeof SETTINGS)[];
    queue.overridden = [...new Set([...queue.overridden, ...set.map(key => SETTINGS[key])])];
    ctx.audit('job_queue.updated', name, { ...Object.fromEntries(changes), reason: why });
    await engineOf(ctx.host).define(ctx.sql, name, queue.policy, settingsOf(queue));
    return queue;
  }

  @Access(OPERATORS)
  @Mutation(() => JobQueue, { description: 'No job of the queue begins; running ones finish.' })
  pauseJobQueue(
    @Rule({ maxLength: 128 })
    @Arg('name', () => String)
    name: string,
    @Rule(REASON)
    @Arg('reason', () => String, { nullable: true, description: WHY })
    reason: string | null,
    @Ctx() ctx: Context,
  ): Promise<JobQueue> {
    return this.#setPaused(ctx, name, true, reason);
  }

  @Access(OPERATORS)
  @Mutation(() => JobQueue)
  resumeJobQueue(
    @Rule({ maxLength: 128 })
    @Arg('name', () => String)
    name: string,
    @Rule(REASON)
    @Arg('reason', () => String, { nullable: true, description: WHY })
    reason: string | null,
    @Ctx() ctx: Context,
  ): Promise<JobQueue> {
    return this.#setPaused(ctx, name, false, reason);
  }

  async #setPaused(ctx: Context, name: string, paused: boolean, given: string | null): Promise<JobQueue> {
    const reason = reasonOf(ctx, given, '/reason');
    const queue = await lock(ctx, name);
    ctx.audit(paused ? 'job_queue.paused' : 'job_queue.resumed', name, { was: queue.paused, reason });
    queue.paused = paused;
    if (!paused) wake(ctx, [name]);
    return queue;
  }

  @Access(OPERATORS)
  @Mutation(() => JobCount, { description: 'Puts dead jobs of a queue back, oldest first; not those whose payload was erased.' })
  async retryDeadJobs(@Arg('input', () => RetryDeadJobsInput) input: RetryDeadJobsInput, @Ctx() ctx: Context): Promise<JobCount> {
    const { name, errorCode = null, from = null, to = null, limit, reason = null } = input;
    const { policy } = await lock(ctx, name);
    const dead = await ctx.sql<{ id: string; group_key: string | null }>(
      `select m.id, m.group_key from jobs.job_meta m where queue = $1 and status = 'dead' and payload is not null and ($2::text is null or error_code = $2)
         and ($3::timestamptz is null or finished_at >= $3) and ($4::timestamptz is null or finished_at < $4) and ${PLACE_FREE}
       order by created_at, id limit $5 for update of m`,
      [name, errorCode, from?.toISOString() ?? null, to?.toISOString() ?? null, limit],
    );
    const rows = policy === JobQueuePolicy.EXCLUSIVE ? firstOfKeys(dead) : dead;
    ctx.audit('job_queue.dead_retried', name, { count: rows.length, error_code: errorCode, reason });
    if (rows.length)
      await engineOf(ctx.host).redrive(
        ctx.sql,
        name,
        rows.map(row => row.id),
      );
    wake(ctx, [name]);
    return { count: rows.length };
  }
}
