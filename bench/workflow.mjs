/**
 * Workflows with everything on this machine: one process starts runs and emits events, another executes. Prints the rate of steps, the CPU of
 * an executor with runs that wait, and how late runs go on after an event and after their time, beside their goals. Exits with 1 when one is missed.
 *
 *   npm run bench:workflow
 *   npm run bench:workflow -- --runs 500 --waiting 1000    less of it; default 1,000 runs of 5 steps, 10,000 that wait
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { v7 } from 'uuid';
import { percentile, range, startSystem, table, until } from './system.mjs';

const { values: flags } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, waiting: { type: 'string', default: '10000' } },
});
const [RUNS, WAITING] = [Number(flags.runs), Number(flags.waiting)];
const STEPS = 5;
const EXECUTOR = { ROLES: 'relay,consumers,scheduler', SERVICES: 'workflow' };
/** Events, and timers, one after the other so far apart. */
const [WAKINGS, APART_MS] = [150, 50];
/** After this time the timers of the engine and of the platform have all been due. */
const QUIET_MS = 60_000;
/** For timers: all runs sleep by then. */
const LEAD_MS = 10_000;
const PATIENCE_MS = 900_000;

const progress = line => process.stderr.write(`  ${line}\n`);
/** A row of the table with its verdict. Goals on 2 cores. Source: workflow 7.12. */
const atLeast = (what, measured, goal) => [what, measured, `≥ ${goal}`, measured >= goal ? 'holds' : 'MISSED'];
const below = (what, measured, goal) => [what, measured, `< ${goal}`, measured < goal ? 'holds' : 'MISSED'];
const atMost = (what, measured, goal) => [what, measured, `≤ ${goal}`, measured <= goal ? 'holds' : 'MISSED'];

const system = await startSystem({ file: 'workflow.mjs' });
const { api, pool } = system;

const waitsOf = async definition =>
  (
    await pool.query(`select count(*)::int as n from workflow.workflow_run_meta where definition_key = $1 and status = 'waiting'`, [
      definition,
    ])
  ).rows[0].n;

/** Steps per second of runs that have begun already when the executor has started. */
async function throughput(executor) {
  const started = Date.now();
  await api.ask('begin', { definition: 'bench_steps', inputs: range(RUNS).map(() => ({ steps: STEPS })) });
  const seen = await until(
    'the steps',
    async () => {
      const one = await executor.ask('seen');
      return one.steps >= RUNS * STEPS && one;
    },
    PATIENCE_MS,
  );
  return Math.round((RUNS * STEPS * 1000) / (seen.at - started));
}

/** Lets runs wait for an event of their own. Answers their keys. */
async function waiting() {
  const keys = range(WAITING).map(() => v7());
  const started = Date.now();
  await api.ask('begin', { definition: 'bench_event', inputs: keys.map(flag_id => ({ flag_id })) });
  await until('all to wait', async () => (await waitsOf('bench_event')) >= WAITING, PATIENCE_MS);
  progress(`${WAITING} runs wait after ${Math.round((Date.now() - started) / 1000)} s`);
  return keys;
}

/** CPU of a process that has nothing to do, % of one core. */
async function idleCpu(executor) {
  await sleep(5_000); // what the waits have left behind
  const [before, started] = [await executor.ask('cpu'), Date.now()];
  await sleep(QUIET_MS);
  const after = await executor.ask('cpu');
  return Number(((after.user + after.system - before.user - before.system) / 10 / (Date.now() - started)).toFixed(2));
}

/** ms from the event to the step after the wait, and from a time to it; `count` of them. */
async function ages(executor, count) {
  const { ages: found } = await until('all to go on', async () => {
    const seen = await executor.ask('seen');
    return seen.ages.length >= count && seen;
  });
  await executor.ask('reset');
  return found;
}

async function afterEvents(executor, keys) {
  for (const key of keys) {
    await api.ask('emit', [key]);
    await sleep(APART_MS);
  }
  return ages(executor, keys.length);
}

async function afterTimers(executor) {
  const from = Date.now() + LEAD_MS;
  await api.ask('begin', { definition: 'bench_timer', inputs: range(WAKINGS).map(at => ({ at: from + at * APART_MS })) });
  return ages(executor, WAKINGS);
}

try {
  await pool.query('update workflow.workflow_trigger set next_at = null'); // nothing else starts
  const executor = await system.worker(EXECUTOR);
  await pool.query('update workflow.workflow_trigger set next_at = null');
  const perSecond = await throughput(executor);
  progress(`${perSecond} steps/s`);
  await executor.ask('reset');
  const empty = await idleCpu(executor);
  const keys = await waiting();
  const cpu = await idleCpu(executor);
  const events = await afterEvents(executor, keys.slice(0, WAKINGS));
  const timers = await afterTimers(executor);
  progress(`p50: event → resumed ${percentile(events, 50)} ms, timer ${percentile(timers, 50)} ms late`);
  const rows = [
    atLeast('steps/s', perSecond, 50),
    below(`CPU of ${WAITING} runs that wait, % of a core (without them ${empty})`, Number((cpu - empty).toFixed(2)), 1),
    atMost('event → resumed, p95 ms', percentile(events, 95), 500),
    atMost('lateness of timers, p95 ms', percentile(timers, 95), 1000),
  ];
  table([['what', 'measured', 'goal', 'verdict'], ...rows]);
  process.exitCode = rows.some(row => row.at(-1) === 'MISSED') ? 1 : 0;
} finally {
  await system.stop();
}
