import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { JSONObject } from '../../../runtime/schema/scalars.js';
import { Job, JobLogLine, JobProgress } from '../entities/job.js';
import { JobQueue } from '../entities/queue.js';
import { PAYLOAD_READERS, READERS, VIEWERS } from '../entities/enums.js';
import { PlatformService, User } from '../stubs.js';
import { loadQueue } from '../queries/payload.js';

/** Null until the first report. */
export const progressOf = ({ progressPercent, progressStep, progressMessage, progressAt }: Job): JobProgress | null =>
  progressAt === null ? null : { percent: progressPercent, step: progressStep, message: progressMessage, at: progressAt };

interface Contents {
  id: string;
  payload: unknown;
  output: unknown;
}

/** Large columns, read only where somebody asks, one statement for a list. */
const loadContents = (ctx: Context, id: string): Promise<Contents | null> =>
  ctx.load('job.contents', id, async ids => {
    const rows = await ctx.sql<Contents>('select id, payload, output from jobs.job_meta where id = any($1)', [ids]);
    return inOrder(ids, rows, row => row.id);
  });

const mayReadPayload = (ctx: Context): boolean => mayAccess(ruleOf(PAYLOAD_READERS), ctx.caller);

const MAX_LINES = 1000;
const MAX_OF_USER = 20;

@Resolver(() => Job)
export class JobFieldsResolver {
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
  async logs(@Root() { id }: Job, @Ctx() ctx: Context): Promise<JobLogLine[]> {
    const lines = await ctx.load('job.logs', id, async ids => {
      const rows = await ctx.sql<JobLogLine & { job_id: string }>(
        `select job_id, to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, attempt, level, message
         from jobs.job_log where job_id = any($1) order by id limit ${MAX_LINES} * cardinality($1::uuid[])`,
        [ids],
      );
      return ids.map(one => rows.filter(row => row.job_id === one).map(row => ({ ...row, at: new Date(row.at) })));
    });
    return lines ?? [];
  }
}

@Resolver(() => User)
export class UserJobsResolver {
  @Access(READERS)
  @FieldResolver(() => [Job], { description: 'The newest 20 jobs that concern the user.' })
  async jobs(@Root() { id }: User, @Ctx() ctx: Context): Promise<Job[]> {
    if (!isUuid(id)) return [];
    const found = await ctx.load('user.jobs', id.toLowerCase(), async users => {
      const rows = await ctx.sql<{ id: string; user_id: string }>(
        `select j.id, j.user_id from unnest($1::uuid[]) as u(id) cross join lateral (
           select id, user_id, created_at from jobs.job_meta m where m.user_id = u.id order by created_at desc, id desc limit ${MAX_OF_USER}) j`,
        [users],
      );
      const jobs = await ctx.em.find(Job, { id: { $in: rows.map(row => row.id) } }, { orderBy: { createdAt: 'desc', id: 'desc' } });
      return users.map(user => jobs.filter(job => job.userId === user));
    });
    return found ?? [];
  }
}

@Resolver(() => PlatformService)
export class ServiceQueuesResolver {
  @Access(READERS)
  @FieldResolver(() => [JobQueue], { description: 'Queues that the service works.' })
  async jobQueues(@Root() { slug }: PlatformService, @Ctx() ctx: Context): Promise<JobQueue[]> {
    const found = await ctx.load('service.queues', slug, async slugs => {
      const services = slugs.map(one => one.replaceAll('-', '_'));
      const queues = await ctx.em.find(JobQueue, { service: { $in: services } }, { orderBy: { name: 'asc' } });
      return services.map(service => queues.filter(queue => queue.service === service));
    });
    return found ?? [];
  }
}
