import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, validate } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { screeningStatusChanged } from '../../events/catalogue/messaging.js';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { startGateway } from '../../gateway/plans/gateway.js';
import { createLogger } from '../../runtime/observe/log.js';
import { QUESTIONS } from '../../subgraphs/workflow/ports/ask.js';
import { PENDING_SERVICES } from '../house/pending.js';
import { ADMIN, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { define, Orchestrator } from './fixture.js';

let p: TestPlatform;
let w: Orchestrator;
/** What test workflows have done, in order. */
const done: string[] = [];
const mark = async (text: string): Promise<null> => (done.push(text), null);
const MINUTE_MS = 60_000;
const inMinutes = async (run: { now(): Promise<Date> }, minutes: number) => new Date((await run.now()).getTime() + minutes * MINUTE_MS);

define('test_part', async run => {
  await run.step('part', () => mark(`${run.key}:part`));
  await run.sleepUntil(await inMinutes(run, 10));
  await run.step(
    'check',
    async () => {
      if (broken) throw Object.assign(new Error('no'), { code: 'no_part' });
      return null;
    },
    { delays: [] },
  );
  return { part: run.runId };
});
define(
  'test_whole',
  async run => {
    const { part } = await run.child('test_part', {});
    await run.step('after', () => mark(`${run.key}:after`));
    return { part };
  },
  { steps: ['test_part', 'after'] },
);
define('test_two_events', async run => {
  const first = await run.waitEvent(screeningStatusChanged.name, run.key, await inMinutes(run, 60));
  await run.step('between', () => mark(`${run.key}:between`));
  const second = await run.waitEvent(screeningStatusChanged.name, run.key, await inMinutes(run, 60));
  return { first: first?.to ?? null, second: second?.to ?? null };
});
define(
  'test_slow',
  async run => {
    await run.step('held', () => new Promise<null>(resolve => gates.push(() => resolve(null))));
    return {};
  },
  { maxConcurrent: 2 },
);
define(
  'test_short',
  async run => {
    await run.onCancel('undo', {});
    const subject = { type: 'test', id: run.runId };
    await run.openTask({
      title: 'Look',
      kind: 'test',
      subject,
      assigneeRole: 'clinician',
      dueAt: await inMinutes(run, 99 * 1440),
      form: {},
    });
    await run.waitEvent('never', null, await inMinutes(run, 99 * 1440));
    return {};
  },
  { timeoutDays: 2, compensations: { undo: async () => void (await mark('undone')) } },
);

let broken = false;
const gates: (() => void)[] = [];

/** The definition as it was, and as it is after a deployment. */
const versions = (version: number, since = version): void =>
  define(
    'test_versions',
    async run => {
      await run.step('one', () => mark(`${run.key}:one`));
      await run.sleepUntil(await inMinutes(run, 10));
      if (version > 1 && run.patch('checked')) await run.step('checked', () => mark(`${run.key}:checked`));
      await run.step('two', () => mark(`${run.key}:two`));
      return {};
    },
    { version, since, patches: { checked: 2 } },
  );
versions(1);

beforeAll(async () => {
  p = await platform({ services: ['workflow'] });
  w = await Orchestrator.open(p, '2026-12-01T00:00:00.000Z');
}, 300_000);

const of = (key: string): string[] => done.filter(one => one.startsWith(`${key}:`)).map(one => one.split(':')[1]!);
const change = (to: 'cleared' | 'blocked', conversation_id: string, times = 1) =>
  w.tell(screeningStatusChanged, { conversation_id, from: 'new', to, actor_type: 'staff', staff_id: ADMIN }, null, times);

/** The process of a run dies; in the tables, that is. */
async function orphan(id: string): Promise<void> {
  await p.sql(`insert into workflow.executor (id, lease_until, code_version) values ($1, now() - interval '1 minute', 'older')`, [id]);
  await p.sql(`update workflow.workflow_run_meta set executor = $1 where id = $2`, [id, id]);
  await until(
    'it to be taken over',
    () => p.sql('select engine_no from workflow.workflow_run_meta where id = $1', [id]),
    rows => rows[0].engine_no === 1,
  );
}

describe('a child run', () => {
  const childOf = async (id: string) => (await p.sql('select id from workflow.workflow_run_meta where parent_id = $1', [id]))[0].id;

  test('is a step of its parent, which goes on with its output', async () => {
    const id = await w.start('test_whole', { key: 'whole' });
    await w.reaches(id, 'waiting');
    const [step] = await w.steps(id);
    expect(await w.run(step.child_run_id)).toMatchObject({ parent_id: id, definition_key: 'test_part' });
    await w.reaches(step.child_run_id, 'waiting');
    expect(await w.run(id)).toMatchObject({ waiting_for: { kind: 'child', name: 'test_part', until: null } });
    await w.clock({ advance: 'PT10M' });
    expect(await w.reaches(id, 'succeeded')).toMatchObject({ output: { part: step.child_run_id } });
    expect(of('whole')).toEqual(['after']);
    expect((await w.steps(id)).map(one => [one.name, one.status])).toEqual([
      ['test_part', 'succeeded'],
      ['after', 'succeeded'],
    ]);
  }, 60_000);

  test('that fails fails its parent; both resumed, the parent hears the end of the same child', async () => {
    broken = true;
    const id = await w.start('test_whole', { key: 'broken' });
    await w.reaches(id, 'waiting');
    const child = await childOf(id);
    await w.reaches(child, 'waiting');
    await w.clock({ advance: 'PT10M' });
    expect(await w.reaches(id, 'failed')).toMatchObject({ error_code: 'no_part' });
    broken = false;
    for (const run of [child, id]) expect((await w.call('POST', `/runs/${run}/resume`, { reason: 'mended' })).status).toBe(200);
    expect(await w.reaches(id, 'succeeded')).toMatchObject({ output: { part: child } });
    expect(done.filter(one => one.endsWith(':part') && one.startsWith(id))).toHaveLength(1);
  }, 60_000);

  test('is cancelled with its parent', async () => {
    const id = await w.start('test_whole', { key: 'gone' });
    await w.reaches(id, 'waiting');
    const child = await childOf(id);
    await w.reaches(child, 'waiting');
    expect((await w.call('POST', `/runs/${id}/cancel`, { reason: 'a test' })).status).toBe(200);
    expect(await w.run(child)).toMatchObject({ status: 'cancelled', error_code: 'parent_ended' });
  });
});

describe('an event', () => {
  test('resumes the runs that wait for its type and key, and no other; one that comes twice is heard once', async () => {
    const [mine, other] = ['0190b3a0-0000-7000-8000-0000000000f1', '0190b3a0-0000-7000-8000-0000000000f2'];
    const ids = await Promise.all([mine, other].map(key => w.start('test_two_events', { key })));
    for (const id of ids) await w.reaches(id, 'waiting');
    await change('cleared', mine);
    await until(
      'the step between',
      async () => of(mine),
      list => list.length === 1,
    );
    expect(await w.reaches(ids[0]!, 'waiting')).toMatchObject({ waiting_for: { kind: 'event', name: screeningStatusChanged.name } });
    await change('blocked', mine);
    expect(await w.reaches(ids[0]!, 'succeeded')).toMatchObject({ output: { first: 'cleared', second: 'blocked' } });
    expect((await w.run(ids[1]!)).status).toBe('waiting');
    await w.clock({ advance: 'PT2H' });
    expect(await w.reaches(ids[1]!, 'succeeded')).toMatchObject({ output: { first: null, second: null } });
  }, 60_000);

  test('whose notice is lost on its way to the engine is heard all the same', async () => {
    const key = '0190b3a0-0000-7000-8000-0000000000f4';
    const id = await w.start('test_two_events', { key });
    await w.reaches(id, 'waiting');
    await p.sql('alter table dbos.notifications disable trigger user');
    await change('cleared', key);
    await until(
      'the message to be there, not taken',
      () =>
        p.sql('select 1 from dbos.notifications n join workflow.workflow_run_meta r on r.engine_id = n.destination_uuid where r.id = $1', [
          id,
        ]),
      rows => rows.length === 1,
    );
    await p.sql('alter table dbos.notifications enable trigger user');
    await until('the step between', async () => done.includes(`${key}:between`), Boolean, 20_000);
    await w.reaches(id, 'waiting');
    await change('blocked', key);
    expect(await w.reaches(id, 'succeeded')).toMatchObject({ output: { first: 'cleared', second: 'blocked' } });
  });

  test('that comes while a run does something else is heard when it waits', async () => {
    const key = '0190b3a0-0000-7000-8000-0000000000f3';
    const id = await w.start('test_two_events', { key });
    await w.reaches(id, 'waiting');
    await change('cleared', key, 2);
    expect(await w.reaches(id, 'succeeded')).toMatchObject({ output: { first: 'cleared', second: 'cleared' } });
  }, 60_000);
});

describe('code that has changed', () => {
  test('carries on open runs the way that they began; new ones pass the patch', async () => {
    const old = await w.start('test_versions', { key: 'old' });
    await w.reaches(old, 'waiting');
    versions(2, 1);
    await orphan(old);
    const young = await w.start('test_versions', { key: 'young' });
    await w.reaches(young, 'waiting');
    await w.clock({ advance: 'PT10M' });
    await w.reaches(old, 'succeeded');
    await w.reaches(young, 'succeeded');
    expect([of('old'), of('young')]).toEqual([
      ['one', 'two'],
      ['one', 'checked', 'two'],
    ]);
  }, 60_000);

  test('too much for an open run leaves it PENDING and an alarm names it', async () => {
    const id = await w.start('test_versions', { key: 'stuck' });
    await w.reaches(id, 'waiting');
    versions(3);
    await orphan(id);
    const named = await until(
      'the alarm',
      () => w.messages('workflow_version_unsupported'),
      all => all.length > 0,
    );
    expect(named).toEqual([{ user: null, role: 'developer', definition: 'test_versions', version: 2, run_id: id }]);
    expect((await w.run(id)).status).toBe('pending');
    expect((await w.call('POST', `/runs/${id}/cancel`, { reason: 'too old' })).body.status).toBe('cancelled');
  }, 60_000);
});

test('an executor that is lost raises an alarm, one that stops does not', async () => {
  const lost = await w.messages('workflow_executor_lost');
  expect(lost.map(one => one.executor).length).toBeGreaterThan(0);
  const id = await w.start('test_two_events', { key: 'stopped' });
  await w.reaches(id, 'waiting');
  await p.sql(
    `insert into workflow.executor (id, lease_until, code_version, stopped) values ($1, now() - interval '1 minute', 'x', true)`,
    [id],
  );
  await p.sql(`update workflow.workflow_run_meta set executor = $1 where id = $2`, [id, id]);
  await until(
    'it to be taken over',
    () => p.sql('select engine_no from workflow.workflow_run_meta where id = $1', [id]),
    rows => rows[0].engine_no === 1,
  );
  expect(await w.messages('workflow_executor_lost')).toEqual(lost);
}, 60_000);

test('of a definition at most maxConcurrent runs execute at once', async () => {
  const ids = await Promise.all(['a', 'b', 'c'].map(key => w.start('test_slow', { key })));
  await until(
    'two of them',
    async () => gates.length,
    count => count === 2,
  );
  const running = async () =>
    (await Promise.all(ids.map(id => w.run(id)))).map(run => String(run.status)).toSorted((a, b) => a.localeCompare(b));
  expect(await running()).toEqual(['pending', 'running', 'running']);
  gates[0]!();
  await until(
    'the third',
    async () => gates.length,
    count => count === 3,
  );
  gates.forEach(open => open());
  for (const id of ids) await w.reaches(id, 'succeeded');
}, 60_000);

test('a run that has not ended in the days of its definition fails with an alarm; its tasks are cancelled, nothing is undone', async () => {
  const id = await w.start('test_short', { key: 'short' });
  await w.reaches(id, 'waiting');
  await w.clock({ advance: 'P1DT23H59M' });
  expect((await w.run(id)).status).toBe('waiting');
  await w.clock({ advance: 'PT1M' });
  expect(await w.run(id)).toMatchObject({ status: 'failed', error_code: 'timed_out' });
  expect((await w.tasks(id)).map(task => task.status)).toEqual(['cancelled']);
  expect((await w.messages('workflow_failed')).filter(one => one.run_id === id)).toHaveLength(1);
  await until(
    'the engine to be told',
    () => p.sql('select 1 from workflow.workflow_run_meta where cancel_pending'),
    rows => rows.length === 0,
  );
  expect(done).not.toContain('undone');
  for (const table of ['timer', 'wait', 'message'])
    expect(
      await p.sql(
        `select 1 from workflow.${table} where engine_id like $1 || ':%' and ${table === 'timer' ? 'released_at is null' : 'true'}`,
        [id],
      ),
    ).toEqual([]);
  expect((await w.call('POST', `/runs/${id}/resume`, { reason: 'more time' })).status).toBe(200);
  expect(await w.reaches(id, 'waiting')).toMatchObject({ error_code: null });
  await w.call('POST', `/runs/${id}/cancel`, { reason: 'a test' });
}, 120_000);

describe('definitions', () => {
  const folder = join(import.meta.dirname, '../../subgraphs/workflow/commands/definitions');
  const definitions = readdirSync(folder).filter(file => readFileSync(join(folder, file), 'utf8').includes('defineWorkflow({'));

  test.each(definitions)('%s: code between steps is deterministic: clock, ids, random and configuration only through the port', file => {
    const forbidden =
      /new Date\(\)|Date\.now|Math\.random|randomUUID|newId\(|process\.|setTimeout|setInterval|\bfetch\(|performance\.|ctx\.sql|\.config\./;
    expect(readFileSync(join(folder, file), 'utf8')).not.toMatch(forbidden);
  });

  test('ask other services only for what the supergraph answers, or what a service that is not there yet will', async () => {
    const unreachable = { process: () => Promise.reject(new Error('not called')) };
    const log = createLogger('error');
    const gateway = await startGateway({
      supergraphSdl: await readSupergraph(),
      source: () => unreachable as never,
      executor: 'compiled',
      log,
    });
    const faults = QUESTIONS.filter(({ owner }) => !PENDING_SERVICES.includes(owner)).flatMap(({ owner, document }) =>
      validate(gateway.apiSchema, parse(document.source)).map(error => `${owner}: ${error.message}`),
    );
    expect([faults, QUESTIONS.length > 5]).toEqual([[], true]);
  });
});
