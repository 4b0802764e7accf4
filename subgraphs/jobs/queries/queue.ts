import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation } from '../../../runtime/request/errors.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { decodeCursor, toConnection, type Connection, type PageArgs } from '../../../runtime/request/paging.js';
import { schemaViolations } from '../../../runtime/schema/json-schema.js';
import { JobQueue, type JobQueueOverview, type JobWorker } from '../entities/queue.js';
import { JobWorkerState } from '../entities/enums.js';
import { payloadViolations } from '../rules/payload.js';

/** Queues by name. */
export async function pageOfQueues(ctx: Context, { first, after }: PageArgs): Promise<Connection<JobQueue>> {
  const where = after ? { name: { $gt: String(decodeCursor(after, 1)[0]) } } : {};
  const rows = await ctx.em.find(JobQueue, where, { orderBy: { name: 'asc' }, limit: first + 1 });
  return toConnection(rows, first, queue => [queue.name]);
}

export const loadQueue = (ctx: Context, name: string): Promise<JobQueue | null> => loadRow(ctx, JobQueue, 'name', name);

/** @throws Problem not_found for a queue that does not exist. */
export const requireQueue = async (ctx: Context, name: string): Promise<JobQueue> =>
  (await loadQueue(ctx, name)) ?? fail('not_found', 'There is no such queue');

/** Everything in which a payload breaks the rules of all queues and the schema of its own. */
export function violationsOf(queue: JobQueue, payload: unknown, pointer: string): Violation[] {
  const violations = payloadViolations(payload, pointer);
  return violations.length ? violations : schemaViolations(queue.payloadSchema, payload, pointer);
}

/** Queues that a service works, by name. */
export async function loadQueuesOfService(ctx: Context, slug: string): Promise<JobQueue[]> {
  const found = await ctx.load('service.queues', slug, async slugs => {
    const services = slugs.map(one => one.replaceAll('-', '_'));
    const queues = await ctx.em.find(JobQueue, { service: { $in: services } }, { orderBy: { name: 'asc' } });
    return services.map(service => queues.filter(queue => queue.service === service));
  });
  return found ?? [];
}

const FIGURES = `
select q.name,
  coalesce(w.depth, 0)::int as depth, w.oldest::int as "oldestReadySeconds", coalesce(w.dead, 0)::int as "deadCount",
  (coalesce(f.finished, 0) / 60.0)::float8 as "ratePerMinute", coalesce(f.died::float8 / nullif(f.finished, 0), 0) as "failureRate",
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

/** How queues do, by name; null: all of them. */
export const figuresOfQueues = (ctx: Context, names: readonly string[] | null): Promise<JobQueueOverview[]> =>
  ctx.sql<JobQueueOverview>(FIGURES, [names]);

export async function loadFigures(ctx: Context, name: string): Promise<JobQueueOverview> {
  const figures = await ctx.load('job.queue.figures', name, async names =>
    inOrder(names, await figuresOfQueues(ctx, names), row => row.name),
  );
  return figures!;
}

/** A worker that has been silent for longer is lost. Source: jobs 2. */
const LOST_SECONDS = 60;
const WORKERS = `
select service, instance, queues, (extract(epoch from last_beat_at) * 1000)::float8 as beat_ms, running, version,
  last_beat_at < clock_timestamp() - interval '${LOST_SECONDS} seconds' as silent from jobs.worker_beat order by service, instance`;

/** Processes that work queues. */
export async function allWorkers(ctx: Context): Promise<JobWorker[]> {
  const rows = await ctx.sql<Omit<JobWorker, 'state' | 'lastBeatAt'> & { beat_ms: number; silent: boolean }>(WORKERS);
  return rows.map(({ beat_ms: at, silent, ...row }) => ({
    ...row,
    lastBeatAt: new Date(at),
    state: silent ? JobWorkerState.LOST : JobWorkerState.ALIVE,
  }));
}
