import type { Sql } from '../../events/outbox.js';
import { openPool } from '../../runtime/data/pool.js';
import type { RunningService } from '../../runtime/running-service.js';
import { JobDatabase } from '../../runtime/jobs/database.js';
import type { JobEngine } from '../../runtime/jobs/engine.js';
import { PgBossEngine } from '../../runtime/jobs/pg-boss.js';
import { registerQueues, registerSchedules } from '../../runtime/jobs/register.js';
import { unregistered } from '../../runtime/jobs/registered.js';
import { JobWorker } from '../../runtime/jobs/worker.js';
import type { Parts } from './parts.js';

/** Connections on which a process works its queues. */
const JOBS_POOL = 2;
/** Advisory lock: processes that start at once register their queues one after the other. */
const REGISTER_LOCK = 0x6a6f6273;

/** Registers the queues of services that have some, and works them in a process with the role `consumers`. */
export async function startJobs({ config, stops }: Parts, hosts: readonly RunningService[], databaseUrl: string): Promise<void> {
  const pool = openPool('jobs', config.databaseUrls.jobs ?? databaseUrl, JOBS_POOL);
  stops.add(() => pool.end());
  const database = new JobDatabase(pool);
  const engine = new PgBossEngine(database.sql);
  const workers: JobWorker[] = [];
  stops.add(() => Promise.all(workers.map(worker => worker.stop())));
  const declared = hosts.map(host => ({
    host,
    slug: host.slug,
    queues: host.declaration.queues!,
    schedules: host.declaration.schedules ?? [],
  }));
  for (const { host } of await unregistered(database.sql, declared)) await database.transaction(sql => register(sql, engine, host));
  for (const host of hosts) {
    if (config.roles.has('consumers')) workers.push(new JobWorker(host, engine, database, host.declaration.queues!).start());
  }
}

async function register(sql: Sql, engine: JobEngine, { slug, config, declaration }: RunningService): Promise<void> {
  await sql('select pg_advisory_xact_lock($1)', [REGISTER_LOCK]);
  await registerQueues(sql, engine, slug, declaration.queues!);
  const [clock] = config.manualClock ? await sql<{ now: Date }>('select now from jobs.test_clock') : [];
  await registerSchedules(sql, slug, declaration.schedules ?? [], clock?.now ?? new Date());
}
