import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { atEnd } from '../support/at-end.js';
import { dropDatabase } from '../support/database.js';
import { platformEnv, RemotePlatform, seededDatabase } from '../support/platform.js';
import { startProcess, type Child } from '../support/processes.js';
import { until } from '../support/until.js';

const PROCESS = join(import.meta.dirname, 'process.ts');
const START_MS = 180_000;
const LOST_MS = 120_000; // jobs 10.4

let p: RemotePlatform;
let token: string;
let child: Child;

const call = (method: string, path: string, body?: object) => p.rest(method, `/jobs/v1${path}`, { token, body });

async function start(hold: string): Promise<void> {
  child = startProcess({ ...p.env, HOLD: hold }, PROCESS);
  const ready = () => fetch(`${p.url}/jobs/readyz`).then(answer => answer.status, () => 0); // prettier-ignore
  await until('the platform to be ready', ready, status => status === 200, START_MS).catch(error => {
    throw new Error(`${(error as Error).message}\n${child.printed()}`);
  });
  token ??= await p.serviceToken();
  await until('its queue to be registered', () => call('GET', '/queues/jobs.test_crash'), answer => answer.status === 200); // prettier-ignore
}

beforeAll(async () => {
  const databaseUrl = await seededDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-crash-'));
  const owner = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  p = new RemotePlatform({ ...(await platformEnv(databaseUrl, { manualClock: false })), DATA_DIR: dataDir }, owner);
  atEnd(async () => {
    await p.stop();
    await dropDatabase(databaseUrl);
    await rm(dataDir, { recursive: true, force: true });
  });
}, START_MS);

afterAll(() => child?.end());

test('kill -9 the worker → heartbeat lost ≤ 2 min, RETRYING, other worker finishes; its metrics say so', async () => {
  await start('yes');
  const { id } = (await call('POST', '/jobs', { queue: 'jobs.test_crash', payload: {} })).body;
  const job = async () => (await call('GET', `/jobs/${id}`)).body;
  await until('it to run', job, one => one.status === 'running'); // prettier-ignore
  await child.end('SIGKILL');
  await start('');
  const killed = Date.now();
  expect(await until('the other worker', job, one => one.status === 'succeeded', LOST_MS)).toMatchObject({ attempt: 2, output: { attempt: 2 } }); // prettier-ignore
  expect(Date.now() - killed).toBeLessThan(LOST_MS);
  const metrics = await (await fetch(`${p.url}/metrics`)).text();
  expect(metrics).toMatch(/job_attempts_total\{queue="jobs\.test_crash",outcome="succeeded"\} 1/);
}, 600_000);
