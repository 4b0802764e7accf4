/**
 * The 6-hourly sweep over 100,000 open re-test cycles of which 10,000 are due: seconds, and the most memory of the process that runs it.
 * One cycle is poisoned: the sweep goes on, and the next one prompts it. Then the process is killed in the middle of a sweep and
 * started again: nobody is prompted twice. Exits with 1 when a statement does not hold.
 *
 *   npm run bench:sweep
 *   npm run bench:sweep -- --cycles 20000 --due 2000
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { START_FLAGS, startNode } from './processes.mjs';

const { values: flags } = parseArgs({
  options: { cycles: { type: 'string', default: '100000' }, due: { type: 'string', default: '10000' } },
});
const [CYCLES, DUE] = [Number(flags.cycles), Number(flags.due)];
const [MOST_SECONDS, MOST_MB] = [30, 300];
const NOW = '2026-12-01T00:00:00.000Z';
const MAIN = join(import.meta.dirname, '..', 'dist', 'gateway', 'main.js');

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address();
  probe.close();
  return free;
}

const quiet = () => undefined;
const folder = await mkdtemp(join(tmpdir(), 'sweep-'));
const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: quiet });
const pool = new pg.Pool({ connectionString: server.url, max: 2 });
const port = await freePort();
const base = `http://localhost:${port}`;
const env = {
  ...process.env,
  PORT: String(port),
  BASE_URL: base,
  DATABASE_URL: server.url,
  CLOCK: 'manual',
  LOG_LEVEL: 'error',
  DATA_DIR: join(folder, 'platform'),
  ROLES: 'subgraphs,gateway,rest',
};

let child;
async function boot() {
  child = startNode([...START_FLAGS, MAIN], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  for (let tries = 0; tries < 1200; tries++) {
    const ok = await fetch(`${base}/clinical/readyz`).then(
      answer => answer.ok,
      () => false,
    );
    if (ok) return;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  throw new Error('the platform did not start');
}

async function end(signal) {
  const gone = new Promise(resolve => child.once('exit', resolve));
  child.kill(signal);
  await gone;
}

async function token() {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  return (await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body: form })).json()).access_token;
}

async function call(path, body) {
  const headers = { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' };
  const answer = await fetch(`${base}/clinical${path}`, { method: 'POST', headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Cycles of as many patients on one intervention each would cost a table; the sweep reads its state, not its rows. */
const CYCLES_OF = `insert into clinical.retest_cycle (id, patient_id, code, brand_id, baseline_observation_id, baseline_draw_id, baseline_collected_at, baseline_value, unit,
    intervention_kind, intervention_id, intervention_key, window_days, grace_days, retest_due_at, expires_at, created_at)
  select gen_random_uuid(), gen_random_uuid(), 'ldl_c', $1, gen_random_uuid(), gen_random_uuid(), at - interval '90 days', 160, 'mg/dL', 'protocol', gen_random_uuid(), 'lipid_reset',
    90, 30, at, at + interval '30 days', at - interval '90 days'
  from (select case when n <= $3 then $4::timestamptz - interval '1 day' else $4::timestamptz + interval '20 days' end as at from generate_series(1, $2) n) rows`;
const fill = (cycles, due) => pool.query(CYCLES_OF, [randomUUID(), cycles, due, NOW]);

async function flagsOn() {
  for (const key of ['feature.clinical.retest-cycle', 'feature.clinical.retest-prompt'])
    await call('/v1/admin/test-flags', { key, value: true });
}

const failures = [];
function hold(what, is) {
  console.log(`${is ? 'holds' : 'FAILS'}: ${what}`);
  if (!is) failures.push(what);
}

/** Most memory that the process has had, MB. Source: proc(5), VmHWM. */
const peakMb = async () => Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024;
const one = async (text, values = []) => (await pool.query(text, values)).rows[0];
const DOUBLE = `select count(*)::int as n from (select user_id from events.outbox where type = 'clinical.retest.prompted.v1' group by user_id having count(*) > 1) twice`;

try {
  await boot();
  await call('/v1/admin/test-clock', { now: NOW });
  await flagsOn();
  await fill(CYCLES, DUE);
  await pool.query('analyze clinical.retest_cycle');
  const { id } = await one(`select id from clinical.retest_cycle where retest_due_at < $1 order by random() limit 1`, [NOW]);
  await call('/v1/admin/test-faults', { point: 'retest.sweep.cycle', match: id, times: 1 });
  const before = await peakMb();
  const started = performance.now();
  const run = await call('/v1/retest-cycles/sweep');
  const seconds = (performance.now() - started) / 1000;
  const mb = await peakMb();
  console.log(
    `${run.scanned} scanned, ${run.prompted} prompted in ${seconds.toFixed(1)} s; peak ${mb.toFixed(0)} MB (${before.toFixed(0)} MB before)`,
  );
  hold(`all scanned, all but the poisoned one prompted`, run.scanned === CYCLES && run.prompted === DUE - 1 && run.failed === 1);
  hold(`at most ${MOST_SECONDS} s`, seconds <= MOST_SECONDS);
  hold(`at most ${MOST_MB} MB more than before`, mb - before <= MOST_MB);
  const next = await call('/v1/retest-cycles/sweep');
  hold('the next sweep prompts the poisoned one, and nobody else', next.prompted === 1 && next.failed === 0);

  await fill(DUE, DUE);
  const cut = call('/v1/retest-cycles/sweep').catch(() => null);
  const { n: settled } = await one(`select count(*)::int as n from clinical.retest_cycle where status = 'prompted'`);
  for (let seen = 0; seen < DUE / 4;)
    seen = (await one(`select count(*)::int as n from clinical.retest_cycle where status = 'prompted'`)).n - settled;
  await end('SIGKILL');
  await cut;
  const { n: half } = await one(`select count(*)::int as n from clinical.retest_cycle where status = 'prompted'`);
  await boot();
  await flagsOn();
  const rest = await call('/v1/retest-cycles/sweep');
  const { n: all } = await one(`select count(*)::int as n from clinical.retest_cycle where status = 'prompted' and prompt_count = 1`);
  console.log(`killed after ${half - settled} of ${DUE} prompts; the sweep after the start prompted ${rest.prompted}`);
  hold('the killed sweep is resumed to the end', all === 2 * DUE && rest.prompted === DUE - (half - settled));
  hold('no cycle was prompted twice', (await one(DOUBLE)).n === 0);
} finally {
  if (child && child.exitCode === null && child.signalCode === null) await end('SIGTERM');
  await pool.end();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failures.length ? 1 : 0;
