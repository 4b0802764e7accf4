/**
 * Goals of the clinical service, section 7.3.9: a list of 100 results with their ranges, a bundle of 200 results stored, and the direction
 * of a change. The platform runs on embedded PostgreSQL; requests come one after the other. Exits with 1 when a goal is missed.
 * The sweep's goals are measured by `npm run bench:sweep`.
 *
 *   npm run bench:clinical
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../dist/runtime/embedded-postgres/start.js';
import { BiomarkerDirection, BiomarkerNoiseModel } from '../dist/subgraphs/clinical/entities/biomarker.js';
import { compare } from '../dist/subgraphs/clinical/rules/direction.js';
import { removeData } from './folders.mjs';
import { freePort } from './port.mjs';
import { GATEWAY_CORE, run, START_FLAGS, stopAll, untilReady } from './processes.mjs';

const WARM_UP = 30;
const BUNDLES = 60;
const LISTS = 300;
const COMPARISONS = 2_000_000;
const DAY_MS = 86_400_000;
const MARKERS = [
  ['ldl_c', 'mg/dL', 118.4],
  ['tsh', 'm[IU]/L', 2.1],
  ['hba1c', '%', 5.4],
  ['vitamin_d_25oh', 'ng/mL', 41],
];

const percentile = (list, part) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))];

/** Milliseconds of each of so many calls, after as many that only warm up. */
async function timesOf(count, call) {
  const times = [];
  for (let at = 0; at < WARM_UP + count; at++) {
    const began = performance.now();
    await call(at);
    if (at >= WARM_UP) times.push(performance.now() - began);
  }
  return times;
}

async function startPlatform(url, folder) {
  const port = await freePort();
  const base = `http://localhost:${port}`;
  const env = { DATABASE_URL: url, PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'error', ROLES: 'subgraphs,gateway,rest' };
  const child = run(GATEWAY_CORE, [process.execPath, ...START_FLAGS, join(import.meta.dirname, '../dist/gateway/main.js')], { env });
  await untilReady(child, async () => (await fetch(`${base}/clinical/readyz`)).ok);
  return base;
}

async function clientOf(base) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'demo-m2m', client_secret: 'demo-m2m-secret' });
  const { access_token: token } = await (await fetch(`${base}/identity/v1/oauth/token`, { method: 'POST', body })).json();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (path, input) => {
    const answer = await fetch(`${base}/clinical${path}`, { headers, ...(input && { method: 'POST', body: JSON.stringify(input) }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
}

/** Two hundred final results of one patient, of four markers on fifty days. */
const bundle = patient => ({
  user_id: patient,
  observations: Array.from({ length: 200 }, (_, at) => {
    const [code, unit, value] = MARKERS[at % MARKERS.length];
    const day = Math.floor(at / MARKERS.length);
    const collected = new Date(Date.now() - (day + 1) * DAY_MS).toISOString();
    return {
      code,
      unit,
      value: value + day / 100,
      collected_at: collected,
      draw_id: randomUUID(),
      source: 'lab',
      performer: 'lab_a',
      source_ref: `lab_a:${randomUUID()}`,
      status: 'final',
    };
  }),
});

const NOISE = { model: BiomarkerNoiseModel.LOG_NORMAL, z: 1.645, cvAnalytical: 0.04, cvAnalyticalBetween: 0.08, cvWithin: 0.083, sd: null };

/** Directions per second, of changes on both sides of the noise limit. */
function directionsPerSecond() {
  const comparison = { direction: BiomarkerDirection.LOWER_IS_BETTER, noise: NOISE, target: { low: null, high: 100 }, otherLab: false };
  const began = performance.now();
  for (let at = 0; at < COMPARISONS; at++)
    compare({ ...comparison, baseline: { value: 160, comparator: null }, followUp: { value: 100 + (at % 120), comparator: null } });
  return COMPARISONS / ((performance.now() - began) / 1000);
}

function judge(what, measured, goal, holds) {
  console.log(`${holds ? 'holds' : 'FAILS'}: ${what}: ${measured} (${goal})`);
  if (!holds) process.exitCode = 1;
}

const folder = await mkdtemp(join(tmpdir(), 'platform-clinical-'));
const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });
try {
  const call = await clientOf(await startPlatform(server.url, join(folder, 'platform')));
  const patients = Array.from({ length: WARM_UP + BUNDLES }, () => randomUUID());
  const stored = await timesOf(BUNDLES, at => call('/v1/biomarkers', bundle(patients[at])));
  const listed = await timesOf(LISTS, async at => {
    const { data } = await call(`/v1/biomarkers?user_id=${patients[at % patients.length]}&limit=100`);
    if (data.length !== 100 || !data[0].applied_range) throw new Error(`no list of 100 with ranges: ${JSON.stringify(data[0])}`);
  });
  const [bundleP95, listP95, directions] = [percentile(stored, 0.95), percentile(listed, 0.95), directionsPerSecond()];
  judge(
    '200 results stored, p50 / p95 ms',
    `${percentile(stored, 0.5).toFixed(0)} / ${bundleP95.toFixed(0)}`,
    'p95 ≤ 300',
    bundleP95 <= 300,
  );
  judge(
    '100 results with ranges read, p50 / p95 ms',
    `${percentile(listed, 0.5).toFixed(1)} / ${listP95.toFixed(1)}`,
    'p95 ≤ 40',
    listP95 <= 40,
  );
  judge('directions of change per second', directions.toFixed(0), '≥ 200,000', directions >= 200_000);
} finally {
  await stopAll();
  await server.stop();
  await removeData(folder);
}
