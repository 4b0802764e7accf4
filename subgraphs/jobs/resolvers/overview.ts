import { Ctx, FieldResolver, Float, Int, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { JobQueue, JobQueueOverview, JobsOverview, JobWorker } from '../entities/queue.js';
import { JobWorkerState, READERS, VIEWERS } from '../entities/enums.js';

/** A worker that has been silent for longer is lost. Source: jobs 2. */
const LOST_SECONDS = 60;

const FIGURES = `
select q.name,
  coalesce(w.depth, 0)::int as depth, w.oldest::int as "oldestReadySeconds", coalesce(w.dead, 0)::int as "deadCount",
  coalesce(f.finished, 0) / 60.0 as "ratePerMinute", coalesce(f.died::float8 / nullif(f.finished, 0), 0) as "failureRate",
  f.wait as "waitP95Seconds", f.run as "runP95Seconds"
from jobs.queue_definition q
left join lateral (
  select count(*) filter (where status in ('queued', 'retrying')) as depth, count(*) filter (where status = 'dead') as dead,
    extract(epoch from clock_timestamp() - min(queued_at) filter (where status = 'queued')) as oldest
  from jobs.job_meta m where m.queue = q.name and m.status in ('queued', 'retrying', 'dead')) w on true
left join lateral (
  select count(*) as finished, count(*) filter (where status in ('dead', 'discarded')) as died,
    percentile_cont(0.95) within group (order by extract(epoch from started_at - queued_at)) filter (where attempt = 1) as wait,
    percentile_cont(0.95) within group (order by extract(epoch from finished_at - started_at)) as run
  from jobs.job_meta m where m.queue = q.name and m.finished_at > clock_timestamp() - interval '1 hour' and m.started_at is not null
    and m.status in ('succeeded', 'dead', 'discarded')) f on true
where $1::text[] is null or q.name = any($1) order by q.name`;

const numbers = (row: Record<string, unknown>): JobQueueOverview =>
  Object.fromEntries(Object.entries(row).map(([key, value]) => [key, key === 'name' || value === null ? value : Number(value)])) as never;

const figures = async (ctx: Context, names: readonly string[] | null): Promise<JobQueueOverview[]> =>
  (await ctx.sql<Record<string, unknown>>(FIGURES, [names])).map(numbers);

const figuresOf = (ctx: Context, name: string): Promise<JobQueueOverview | null> =>
  ctx.load('job.queue.figures', name, async names => inOrder(names, await figures(ctx, names), row => row.name));

@Resolver(() => JobQueue)
export class OverviewResolver {
  @Access(READERS)
  @Query(() => JobsOverview, { description: 'How every queue does.' })
  async jobsOverview(@Ctx() ctx: Context): Promise<JobsOverview> {
    return { queues: await figures(ctx, null) };
  }

  @Access(READERS)
  @Query(() => [JobWorker], { description: 'Processes that work queues, and which of them are silent.' })
  async jobWorkers(@Ctx() ctx: Context): Promise<JobWorker[]> {
    const rows = await ctx.sql<Omit<JobWorker, 'state' | 'lastBeatAt'> & { beat: string; silent: boolean }>(
      `select service, instance, queues, to_char(last_beat_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as beat, running, version,
         last_beat_at < clock_timestamp() - interval '${LOST_SECONDS} seconds' as silent from jobs.worker_beat order by service, instance`,
    );
    return rows.map(({ beat, silent, ...row }) => ({
      ...row,
      lastBeatAt: new Date(beat),
      state: silent ? JobWorkerState.LOST : JobWorkerState.ALIVE,
    }));
  }

  @Access(VIEWERS)
  @FieldResolver(() => Int, { description: 'Jobs that wait for a worker.' })
  async depth(@Root() { name }: JobQueue, @Ctx() ctx: Context): Promise<number> {
    return (await figuresOf(ctx, name))!.depth;
  }

  @Access(VIEWERS)
  @FieldResolver(() => Int, { nullable: true })
  async oldestReadySeconds(@Root() { name }: JobQueue, @Ctx() ctx: Context): Promise<number | null> {
    return (await figuresOf(ctx, name))!.oldestReadySeconds;
  }

  @Access(VIEWERS)
  @FieldResolver(() => Float, { description: 'Of the last hour, 0 to 1.' })
  async failureRate(@Root() { name }: JobQueue, @Ctx() ctx: Context): Promise<number> {
    return (await figuresOf(ctx, name))!.failureRate;
  }

  @Access(VIEWERS)
  @FieldResolver(() => Int)
  async deadCount(@Root() { name }: JobQueue, @Ctx() ctx: Context): Promise<number> {
    return (await figuresOf(ctx, name))!.deadCount;
  }
}
