/**
 * Jobs with everything on this machine: one process enqueues, another works a queue that does nothing. Prints rates, the wait from enqueueing to
 * the handler, how both change with what waits, and the connections of an idle worker, beside their goals. Exits with 1 when one is missed.
 *
 *   npm run bench:jobs
 *   npm run bench:jobs -- --jobs 20000 --waiting 1000000    more of everything; default 5,000 and 50,000
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { percentile, startSystem, table, until } from './system.mjs';

const { values: flags } = parseArgs({
  options: { jobs: { type: 'string', default: '5000' }, waiting: { type: 'string', default: '50000' } },
});
const [JOBS, WAITING] = [Number(flags.jobs), Number(flags.waiting)];
const WORKER = { ROLES: 'consumers,scheduler', SERVICES: 'jobs', DATABASE_POOL_MAX: '3' };
/** Pools drop what is idle for 10 s. */
const IDLE_MS = 25_000;

const progress = line => process.stderr.write(`  ${line}\n`);
/** A row of the table with its verdict. Goals on 2 cores. Source: jobs 7.15. */
const atLeast = (what, measured, goal) => [what, measured, `≥ ${goal}`, measured >= goal ? 'holds' : 'MISSED'];
const atMost = (what, measured, goal) => [what, measured, `≤ ${goal}`, measured <= goal ? 'holds' : 'MISSED'];
const rate = (count, ms) => Math.round((count * 1000) / ms);

/** Three times as long as the goal allows, and the start. */
const patienceMs = count => 60_000 + 10 * count;

async function ran(worker, count) {
  const look = async () => {
    const seen = await worker.ask('seen');
    return seen.done >= count && seen;
  };
  return until(`${count} jobs to run`, look, patienceMs(count));
}

/** Enqueued beforehand, then worked off. Answers jobs per second. */
async function throughput({ api, worker }, count) {
  await api.ask('batch', { count });
  const started = Date.now();
  const one = await worker(WORKER);
  const ready = Date.now();
  const seen = await ran(one, count);
  progress(`${count} jobs after ${ready - started} ms of start: ${rate(count, seen.at - ready)}/s`);
  return { one, perSecond: rate(count, seen.at - ready) };
}

/** Sent at a pace that leaves the worker idle in between. */
async function waits({ api }, one, count, perSecond) {
  await one.ask('reset');
  await api.ask('single', { count, concurrency: 4, perSecond });
  return (await ran(one, count)).ages;
}

const connectionsOf = async pool =>
  (
    await pool.query(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'platform_jobs'`,
    )
  ).rows[0].n;

const system = await startSystem({ file: 'jobs.mjs' });
try {
  await system.api.ask('single', { count: JOBS / 5, concurrency: 8 }); // warm
  const { ms: each } = await system.api.ask('single', { count: JOBS, concurrency: 8 });
  progress(`${JOBS} transactions of one job: ${rate(JOBS, each)}/s`);
  const { ms: many } = await system.api.ask('batch', { count: JOBS * 4 });
  progress(`${JOBS * 4} jobs in batches: ${rate(JOBS * 4, many)}/s`);
  const drain = await throughput(system, 0);
  await ran(drain.one, JOBS / 5 + JOBS + JOBS * 4);
  await drain.one.ask('reset');
  await system.end(drain.one);
  const { one, perSecond } = await throughput(system, JOBS * 4);
  const ages = await waits(system, one, Math.min(JOBS, 500), 50);
  await sleep(IDLE_MS);
  const all = await connectionsOf(system.pool);
  await system.end(one);
  await sleep(IDLE_MS);
  const idle = all - (await connectionsOf(system.pool));
  await system.api.ask('batch', { count: WAITING, run_at: '2099-01-01T00:00:00.000Z' });
  const full = await throughput(system, JOBS * 4);
  await system.end(full.one);
  const rows = [
    atLeast('jobs enqueued/s, one in a transaction', rate(JOBS, each), 1000),
    atLeast('jobs enqueued/s, in batches of 1,000', rate(JOBS * 4, many), 5000),
    atLeast('jobs that do nothing run/s', perSecond, 300),
    atMost('enqueue → handler at 50/s, p95 ms', percentile(ages, 95), 300),
    atLeast(`jobs run/s with ${WAITING} waiting for their time`, full.perSecond, Math.round(perSecond * 0.8)),
    atMost('connections of an idle worker process', idle, 2),
  ];
  table([['what', 'measured', 'goal', 'verdict'], ...rows]);
  process.exitCode = rows.some(row => row.at(-1) === 'MISSED') ? 1 : 0;
} finally {
  await system.stop();
}
