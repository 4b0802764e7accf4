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
const TAKEN_OVER_MS = 60_000; // workflow 7.6

let p: RemotePlatform;
let token: string;
let child: Child;

/** Starts the platform; `hold` is the step in which it stays. */
async function start(hold = ''): Promise<void> {
  child = startProcess({ ...p.env, HOLD: hold }, PROCESS);
  const ready = () =>
    fetch(`${p.url}/workflow/readyz`).then(
      answer => answer.status,
      () => 0,
    );
  await until('the platform to be ready', ready, status => status === 200, START_MS).catch(error => {
    throw new Error(`${(error as Error).message}\n${child.printed()}`);
  });
  token ??= await p.serviceToken();
  await until(
    'its definitions to be registered',
    () => call('GET', '/workflows/test_four'),
    answer => answer.status === 200,
  );
}

const call = (method: string, path: string, body?: object) => p.rest(method, `/workflow/v1${path}`, { token, body });
const effects = async (key: string): Promise<string[]> =>
  (await p.sql('select step from workflow.test_effect where key = $1 order by id', [key])).map(row => row.step);
const statusOf = async (id: string): Promise<string> => (await call('GET', `/runs/${id}`)).body.status;

beforeAll(async () => {
  const databaseUrl = await seededDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-crash-'));
  const owner = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  p = new RemotePlatform({ ...(await platformEnv(databaseUrl)), DATA_DIR: dataDir }, owner);
  atEnd(async () => {
    await p.stop();
    await dropDatabase(databaseUrl);
    await rm(dataDir, { recursive: true, force: true });
  });
  await p.sql('create table workflow.test_effect (id serial, key text, step text)');
  await p.sql('grant all on workflow.test_effect, workflow.test_effect_id_seq to platform_workflow');
}, START_MS);

afterAll(() => child?.end());

const TICKS = ['2027-02-01T00:07:00.000Z', '2027-02-01T01:07:00.000Z', '2027-02-01T02:07:00.000Z'];

test('clock over 3 h → 3 ticks, each with its own key; kill -9 after step 2 of 4 and between an effect and its checkpoint → every step once', async () => {
  await start('three');
  await p.sql(`update workflow.workflow_trigger set next_at = case when definition_key = 'intelligence_loop' then $1::timestamptz end`, [
    TICKS[0],
  ]);
  await p.clock('workflow', { now: '2027-02-01T00:00:00.000Z' });
  await p.clock('workflow', { now: '2027-02-01T01:00:00.000Z' });
  const ids: Record<string, string> = {};
  const begin = async (key: string) => {
    const answer = await call('POST', '/workflows/test_four/runs', { key, input: {} });
    expect(answer, child.printed()).toMatchObject({ status: 201 });
    ids[key] = answer.body.id;
  };

  await begin('before');
  await until(
    'step 3 to begin',
    () => call('GET', `/runs/${ids.before}/steps`),
    answer => answer.body.data.length === 3,
  );
  await child.end('SIGKILL');
  expect(await effects('before')).toEqual(['one', 'two']);

  await start('two');
  await until(
    'the run to be taken over',
    () => effects('before'),
    steps => steps.length === 4,
    TAKEN_OVER_MS,
  );
  await begin('between');
  await until(
    'the effect of step 2',
    () => effects('between'),
    steps => steps.length === 2,
  );
  await child.end('SIGKILL');

  await start();
  for (const id of Object.values(ids))
    await until(
      'the run to end',
      () => statusOf(id),
      status => status === 'succeeded',
      TAKEN_OVER_MS,
    );
  for (const key of ['before', 'between']) expect(await effects(key)).toEqual(['one', 'two', 'three', 'four']);

  await p.clock('workflow', { now: '2027-02-01T03:00:00.000Z' });
  const runs = (await call('GET', '/runs?definition=intelligence_loop')).body.data.toReversed();
  expect(runs.map((run: { key: string; status: string }) => [run.key, run.status])).toEqual(TICKS.map(key => [key, 'succeeded']));
  const ticks = await p.sql('select idempotency_key as key from intelligence.loop_tick order by 1');
  expect(ticks.map(tick => tick.key)).toEqual(TICKS.map(key => `loop:${key}`));
}, 600_000);
