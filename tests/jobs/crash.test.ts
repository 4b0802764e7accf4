import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { atEnd } from '../support/at-end.js';
import { dropDatabase } from '../support/database.js';
import { freePort, platformEnv, RemotePlatform, seededDatabase } from '../support/platform.js';
import { startProcess, type Child } from '../support/processes.js';
import { until } from '../support/until.js';

const PROCESS = join(import.meta.dirname, 'process.ts');
const START_MS = 180_000;
const LOST_MS = 120_000; // jobs 10.4

let p: RemotePlatform;
let token: string;
/** Where the process is that is asked. */
let url: string;
const children: Child[] = [];

const call = (method: string, path: string, body?: object) =>
  fetch(`${url}/jobs/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  }).then(async answer => ({ status: answer.status, body: (await answer.json()) as any }));

async function start(hold: string, port: string): Promise<Child> {
  const child = startProcess({ ...p.env, PORT: port, HOLD: hold }, PROCESS);
  children.push(child);
  url = `http://localhost:${port}`;
  const ready = () =>
    fetch(`${url}/jobs/readyz`).then(
      answer => answer.status,
      () => 0,
    );
  await until('the platform to be ready', ready, status => status === 200, START_MS).catch(error => {
    throw new Error(`${(error as Error).message}\n${child.printed()}`);
  });
  token ??= await p.serviceToken();
  await until(
    'its queue to be registered',
    () => call('GET', '/queues/jobs.test_crash'),
    answer => answer.status === 200,
  );
  return child;
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

afterAll(() => Promise.all(children.map(child => child.end())));

test('kill -9 the worker → heartbeat lost ≤ 2 min, RETRYING, other worker finishes; its metrics say so', async () => {
  const first = await start('yes', p.env.PORT!);
  const { id } = (await call('POST', '/jobs', { queue: 'jobs.test_crash', payload: {} })).body;
  const job = async () => (await call('GET', `/jobs/${id}`)).body;
  await until('it to run', job, one => one.status === 'running');
  await start('', String(await freePort()));
  await first.end('SIGKILL');
  const lost = await until('the heartbeat to be missed', job, one => one.status !== 'running', LOST_MS);
  expect(lost).toMatchObject({ status: 'retrying', attempt: 1, error_code: 'heartbeat_lost' });
  expect(await until('the other worker', job, one => one.status === 'succeeded')).toMatchObject({ attempt: 2, output: { attempt: 2 } });
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/job_attempts_total\{queue="jobs\.test_crash",outcome="succeeded"\} 1/);
}, 600_000);
