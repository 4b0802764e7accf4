import type pg from 'pg';
import { handle, type Consumer, type ConsumerHost, type Envelope } from '../../events/consumer.js';
import { startConsumer, type RunningConsumer } from '../../events/running-consumer.js';
import type { DataOf } from '../../events/define.js';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { Limiter } from '../../events/limiter.js';
import type { EventMetrics } from '../../events/metrics.js';
import { schemaOf } from '../../events/slugs.js';
import { systemCaller } from '../../runtime/request/caller.js';
import { openPool } from '../../runtime/data/database.js';
import { JobDatabase } from '../../runtime/jobs/database.js';
import { PgBossEngine } from '../../runtime/jobs/pg-boss.js';
import type { JobQueueDefinition, JobScheduleDefinition } from '../../runtime/jobs/queue.js';
import { registerQueues, registerSchedules } from '../../runtime/jobs/register.js';
import { JobWorker } from '../../runtime/jobs/worker.js';
import type { Sql } from '../../events/outbox.js';
import type { Context } from '../../runtime/request/context.js';
import { eraseAndConfirm } from '../../runtime/erasure/erasure.js';
import type { RunningService } from '../../runtime/running-service.js';
import { internalRequest } from '../../runtime/request/request.js';
import { startTimers } from '../../runtime/time/timers.js';
import { traced } from '../../runtime/observe/tracing.js';

/** What runs and has to be ended. */
export interface Running {
  stop(): Promise<void>;
}

/** How a consumer's handlers get a transaction of their service. */
export const consumerHost = (host: RunningService): ConsumerHost<Context> => ({
  slug: host.slug,
  schema: schemaOf(host.slug),
  log: host.log,
  now: () => host.read(async ctx => ctx.now()),
  outside: run => host.read(run),
  transaction: (meta, run) =>
    traced(`consume ${meta.consumer}`, { kind: 'consumer', parent: meta.traceparent }, () =>
      host.transaction(
        ctx => {
          ctx.causationId = meta.causationId;
          ctx.facts = meta.facts;
          return run({ sql: ctx.sql, context: ctx, now: ctx.now() });
        },
        { ...internalRequest(systemCaller(host.slug), meta.requestId ?? undefined), traceparent: meta.traceparent },
      ),
    ),
});

/**
 * Every service that holds personal data erases a user when identity asks for it, and confirms; identity itself erases last, by its
 * own task. All happens before the event's transaction, which notes the event as handled: until identity has the confirmation, it comes again.
 */
function erasureConsumer({ declaration }: RunningService): Consumer<Context>[] {
  if (declaration.erase === 'nothing_held' || declaration.slug === 'identity') return [];
  const run = handle(userErasureRequested, async (_ctx: Context) => undefined);
  const prepare = (ctx: Context, { user_id, data }: Envelope<DataOf<typeof userErasureRequested>>): Promise<void> =>
    eraseAndConfirm(ctx, declaration.erase, { userId: user_id!, requestId: data.request_id, scope: data.scope });
  return [{ name: `${declaration.slug}.erasure`, on: [run], prepare, partitions: 1 }];
}

/** Starts the consumers of a service (role `consumers`); all of them together leave one connection of its pool free. */
export async function startConsumers(host: RunningService, pool: pg.Pool, metrics: EventMetrics): Promise<RunningConsumer[]> {
  const limiter = new Limiter(host.config.poolMax - 1);
  const { retrySeconds, handlerTimeoutMs } = host.config.events;
  const declared = [...(host.declaration.consumers ?? []), ...erasureConsumer(host)];
  const consumers = declared.map(consumer => ({ retrySeconds, handlerTimeoutMs, ...consumer }));
  return Promise.all(consumers.map(consumer => startConsumer(consumer, consumerHost(host), host.transport, { pool, limiter, metrics })));
}

/** Starts timers, housekeeping and the service's own workers, as far as the process has their roles. */
export async function startWork(host: RunningService): Promise<Running[]> {
  const { roles } = host.config;
  const workers = (host.declaration.workers ?? []).filter(worker => roles.has(worker.role));
  const running: Running[] = await Promise.all(workers.map(worker => worker.start(host)));
  return roles.has('scheduler') ? [...running, startTimers(host)] : running;
}

/** Connections on which a process works its queues. */
const JOBS_POOL = 2;

/** Registers the queues of the services here, and works them where the process has the role `consumers`. Null where there is none. */
export async function startJobs(hosts: readonly RunningService[], databaseUrl: string): Promise<Running | null> {
  const working = hosts.filter(host => host.declaration.queues?.length);
  if (!working.length) return null;
  const pool = openPool('jobs', working[0]!.config.databaseUrls.jobs ?? databaseUrl, JOBS_POOL);
  const database = new JobDatabase(pool);
  const engine = new PgBossEngine(database.sql);
  const workers: JobWorker[] = [];
  for (const host of working) {
    const { queues = [], schedules = [] } = host.declaration;
    await database.transaction(sql => register(sql, engine, host, queues, schedules));
    if (host.config.roles.has('consumers')) workers.push(new JobWorker(host, engine, database, queues).start());
  }
  return {
    stop: async () => {
      await Promise.all(workers.map(worker => worker.stop()));
      await pool.end();
    },
  };
}

const REGISTER_LOCK = 0x6a6f6273;

async function register(
  sql: Sql,
  engine: PgBossEngine,
  host: RunningService,
  queues: readonly JobQueueDefinition[],
  schedules: readonly JobScheduleDefinition[],
): Promise<void> {
  await sql('select pg_advisory_xact_lock($1)', [REGISTER_LOCK]);
  await registerQueues(sql, engine, host.slug, queues);
  const [clock] = host.config.manualClock ? await sql<{ now: Date }>('select now from jobs.test_clock') : [];
  await registerSchedules(sql, host.slug, schedules, clock?.now ?? new Date());
}
