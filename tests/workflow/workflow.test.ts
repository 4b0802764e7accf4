import { beforeAll, describe, expect, test } from 'vitest';
import ROUTES from '../../rest-adapter/routes/workflow.js';
import { FinalFailure } from '../../subgraphs/workflow/ports/workflow.js';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { define, defineTask, Orchestrator } from './fixture.js';

let p: TestPlatform;
let w: Orchestrator;
/** What test workflows have done, in order. */
const done: string[] = [];
let broken = false;

const mark = async (text: string): Promise<null> => {
  done.push(text);
  return null;
};

define('test_steps', async w => {
  for (const n of [1, 2]) await w.step(`s${n}`, () => mark(`${w.key}:${n}`));
  await w.sleepUntil(new Date((await w.now()).getTime() + 60_000));
  for (const n of [3, 4]) await w.step(`s${n}`, () => mark(`${w.key}:${n}`));
  return { steps: 4 };
});
define(
  'test_month',
  async w => {
    await w.sleepUntil(new Date((await w.now()).getTime() + 30 * 86_400_000));
    await w.step('after', () => mark(`${w.key}:after`));
    return {};
  },
  { timeoutDays: 40 },
);
define('test_event', async w => {
  const event = await w.waitEvent('document.signed', w.key, new Date((await w.now()).getTime() + 86_400_000));
  return { word: event === null ? 'timeout' : 'signed' };
});
define('test_two_signals', async w => {
  const next = async () => (await w.waitEvent('document.signed', w.key, new Date((await w.now()).getTime() + 86_400_000)))!.n;
  const first = await next();
  await w.step('between', () => mark(`${w.key}:between`));
  return { first, second: await next() };
});
defineTask('test_task', { assigneeRole: 'clinician' });
define(
  'test_cancel',
  async w => {
    await w.step('one', () => mark(`${w.key}:one`));
    await w.onCancel('undo', { what: 'first' });
    await w.onCancel('undo', { what: 'second' });
    await w.sleepUntil(new Date((await w.now()).getTime() + 3_600_000));
    await w.step('two', () => mark(`${w.key}:two`));
    return {};
  },
  { compensations: { undo: async ({ runId }, { what }) => void done.push(`undo:${String(what)}:${runId}`) } },
);
define('test_fail', async w => {
  await w.step('first', () => mark(`${w.key}:first`));
  await w.step('second', async () => {
    if (broken) throw new FinalFailure('no_such_order');
    return mark(`${w.key}:second`);
  });
  return {};
});

beforeAll(async () => {
  p = await platform({ services: ['workflow'] });
  w = await Orchestrator.open(p, '2026-12-01T00:00:00.000Z');
}, 300_000);

const of = (key: string): string[] => done.filter(one => one.startsWith(`${key}:`)).map(one => one.split(':')[1]!);

describe('a run', () => {
  test('does its steps in order, waits for time, and ends', async () => {
    const id = await w.start('test_steps', { key: 'order' });
    expect(await w.reaches(id, 'waiting')).toMatchObject({
      waiting_for: { kind: 'timer', until: '2026-12-01T00:01:00.000Z' },
      trigger: 'manual',
    });
    await p.clock('workflow', { advance: 'PT1M' });
    expect(await w.reaches(id, 'succeeded')).toMatchObject({ output: { steps: 4 }, waiting_for: null });
    expect(of('order')).toEqual(['1', '2', '3', '4']);
    expect((await w.steps(id)).map(step => [step.index, step.name, step.status])).toEqual([1, 2, 3, 4].map(n => [n, `s${n}`, 'succeeded']));
  });

  test('one run per (definition, key), whatever the number of starts at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => w.call('POST', '/workflows/test_steps/runs', { key: 'one', input: {} })),
    );
    expect(new Set(answers.map(one => one.body.id)).size).toBe(1);
    expect(answers.filter(one => one.status === 201)).toHaveLength(1);
    await w.reaches(answers[0]!.body.id, 'waiting');
    expect(of('one')).toEqual(['1', '2']);
  });

  test('sleepUntil +30 d, clock +29 d 23:59:59 → WAITING; +1 s → continues', async () => {
    const id = await w.start('test_month', { key: 'month' });
    await w.reaches(id, 'waiting');
    await p.clock('workflow', { advance: 'P29DT23H59M59S' });
    expect((await w.run(id)).status).toBe('waiting');
    await p.clock('workflow', { advance: 'PT1S' });
    await w.reaches(id, 'succeeded');
  }, 180_000);

  test('hears a signal once: duplicates by key are ignored, also after it was resumed; 409 when it does not wait or is not open', async () => {
    const id = await w.start('test_two_signals', { key: 'event' });
    await w.reaches(id, 'waiting');
    const signal = (name: string, key: string, n = 0) =>
      w.call('POST', `/runs/${id}/signal`, { name, payload: { n }, idempotency_key: key });
    expect((await signal('something.else', 'a')).body).toMatchObject({ status: 409, reason: 'not_waiting' });
    expect((await signal('document.signed', 'b', 1)).status).toBe(202);
    await until(
      'the second wait',
      async () => of('event'),
      list => list.length === 1,
    );
    await w.reaches(id, 'waiting');
    const duplicate = async () => {
      expect((await signal('document.signed', 'b', 2)).status).toBe(202);
      expect(await p.sql(`select payload from workflow.message where engine_id like $1 and idempotency_key = 'b'`, [`${id}:%`])).toEqual([
        { payload: { payload: { n: 1 } } },
      ]);
      expect((await w.run(id)).status).toBe('waiting');
    };
    await duplicate();
    await w.call('POST', `/runs/${id}/cancel`, { reason: 'a test' });
    expect((await signal('document.signed', 'c', 3)).status).toBe(409);
    await until(
      'the end',
      () => p.sql('select 1 from workflow.workflow_run_meta where id = $1 and cancel_pending', [id]),
      rows => rows.length === 0,
    );
    expect((await w.call('POST', `/runs/${id}/resume`, { reason: 'after all' })).status).toBe(200);
    await w.reaches(id, 'waiting');
    await duplicate();
    expect((await signal('document.signed', 'c', 3)).status).toBe(202);
    expect(await w.reaches(id, 'succeeded')).toMatchObject({ output: { first: 1, second: 3 } });
    expect((await signal('document.signed', 'c', 3)).status).toBe(409);
  });

  test('cancel → CANCELLED, compensations in reverse order, resume → 200 from the last finished step; cancel of SUCCEEDED → 409', async () => {
    const id = await w.start('test_cancel', { key: 'cancel' });
    await w.reaches(id, 'waiting');
    expect((await w.call('POST', `/runs/${id}/cancel`, {})).status).toBe(400);
    expect((await w.call('POST', `/runs/${id}/cancel`, { reason: 'a test' })).body.status).toBe('cancelled');
    await until(
      'compensations',
      async () => done.filter(one => one.startsWith('undo')),
      list => list.length === 2,
    );
    expect(done.filter(one => one.startsWith('undo')).map(one => one.split(':')[1])).toEqual(['second', 'first']);
    await until(
      'the end',
      () => p.sql('select 1 from workflow.workflow_run_meta where id = $1 and cancel_pending', [id]),
      rows => rows.length === 0,
    );
    expect((await w.call('POST', `/runs/${id}/resume`, { reason: 'after all' })).status).toBe(200);
    await w.reaches(id, 'waiting');
    await p.clock('workflow', { advance: 'PT1H' });
    await w.reaches(id, 'succeeded');
    expect(of('cancel')).toEqual(['one', 'two']);
    expect((await w.call('POST', `/runs/${id}/cancel`, { reason: 'too late' })).status).toBe(409);
  }, 180_000);

  test('of an executor that died goes on in another one: what was done is not done again, what was waited for is waited for', async () => {
    const id = await w.start('test_steps', { key: 'orphan' });
    await w.reaches(id, 'waiting');
    const { code } = (await p.sql('select code_version as code from workflow.executor limit 1'))[0];
    await p.sql(`insert into workflow.executor (id, lease_until, code_version) values ('dead', now() - interval '1 minute', $1)`, [code]);
    await p.sql(`update workflow.workflow_run_meta set executor = 'dead' where id = $1`, [id]);
    await until(
      'it to be taken over',
      () => p.sql('select engine_no from workflow.workflow_run_meta where id = $1', [id]),
      rows => rows[0].engine_no === 1,
    );
    await p.clock('workflow', { advance: 'PT1M' });
    await w.reaches(id, 'succeeded');
    expect(of('orphan')).toEqual(['1', '2', '3', '4']);
  }, 180_000);

  test('that fails raises an alarm, and resumed does only what was not done', async () => {
    broken = true;
    const id = await w.start('test_fail', { key: 'fail' });
    expect(await w.reaches(id, 'failed')).toMatchObject({ error_code: 'no_such_order' });
    const alarms = await p.sql(
      `select data from events.outbox where type = 'comms.message.send_requested.v1' and data->>'template' = 'workflow_failed' and data->'params'->>'run_id' = $1`,
      [id],
    );
    expect(alarms).toHaveLength(1);
    broken = false;
    await w.call('POST', `/runs/${id}/resume`, { reason: 'mended' });
    await w.reaches(id, 'succeeded');
    expect(of('fail')).toEqual(['first', 'second']);
  }, 180_000);

  test('fork at step 3 → new run, steps 1, 2 copied', async () => {
    const id = await w.start('test_steps', { key: 'forked' });
    await w.reaches(id, 'waiting');
    await p.clock('workflow', { advance: 'PT1M' });
    await w.reaches(id, 'succeeded');
    const fork = await w.call('POST', `/runs/${id}/fork`, { step: 3, reason: 'again' });
    expect(fork).toMatchObject({ status: 201, body: { forked_from: id } });
    await w.reaches(fork.body.id, 'waiting');
    await p.clock('workflow', { advance: 'PT1M' });
    await w.reaches(fork.body.id, 'succeeded');
    expect(await w.steps(fork.body.id)).toHaveLength(4);
    expect(of('forked')).toEqual(['1', '2', '3', '4', 'fork', 'fork']); // of the fork only 3 and 4
    expect((await w.call('POST', `/runs/${id}/fork`, { step: 9, reason: 'again' })).body.reason).toBe('step_not_reached');
  }, 180_000);
});

describe('a task', () => {
  const clinician = (id: string) => p.userToken(id, ['read:account'], { permissions: ['admin:clinical'], roles: ['clinician'] } as never);
  async function opened(key: string): Promise<{ run: string; task: string }> {
    const run = await w.start('test_task', { key });
    await w.reaches(run, 'waiting');
    const [row] = await p.sql('select id from workflow.workflow_task where run_id = $1', [run]);
    return { run, task: row.id };
  }

  test('two staff claim one task → one 200, one 409; a result not matching its form → 400 pointer', async () => {
    const { run, task } = await opened('task');
    const [one, two] = [await clinician(ADMIN), await clinician(DEMO2)];
    const claims = await Promise.all([one, two].map(who => w.call('POST', `/tasks/${task}/claim`, undefined, who)));
    expect(claims.filter(answer => answer.status === 200)).toHaveLength(1);
    expect(claims.filter(answer => answer.status === 409)).toHaveLength(1);
    const holder = claims[0]!.status === 200 ? one : two;
    const wrong = await w.call('POST', `/tasks/${task}/complete`, { result: { decision: 'maybe', extra: 1 } }, holder);
    expect([wrong.status, wrong.body.errors.map((e: { pointer: string }) => e.pointer).sort()]).toEqual([
      400,
      ['/result/decision', '/result/extra'],
    ]);
    expect((await w.call('POST', `/tasks/${task}/complete`, { result: { decision: 'yes' } }, holder)).body).toMatchObject({
      status: 'completed',
    });
    expect(await w.reaches(run, 'succeeded')).toMatchObject({ output: { decision: 'yes' } });
    expect((await w.call('POST', `/tasks/${task}/claim`, undefined, one)).status).toBe(409);
  });

  test('is not there for staff with another role', async () => {
    const { task } = await opened('other');
    const finance = await p.userToken(ADMIN, ['read:account'], { permissions: ['admin:payments'], roles: ['finance'] } as never);
    expect((await w.call('POST', `/tasks/${task}/claim`, undefined, finance)).status).toBe(404);
    expect((await w.call('GET', '/tasks', undefined, finance)).body.data).toEqual([]);
    expect(
      (await w.call('GET', '/tasks?status=open', undefined, await clinician(ADMIN))).body.data.map((one: { id: string }) => one.id),
    ).toContain(task);
  });

  test('EXPIRED at dueAt: the run continues with a timeout', async () => {
    const { run, task } = await opened('late');
    await p.clock('workflow', { advance: 'PT1H' });
    expect(await w.reaches(run, 'succeeded')).toMatchObject({ output: { decision: 'none' } });
    expect((await p.sql('select status from workflow.workflow_task where id = $1', [task]))[0].status).toBe('expired');
    expect((await w.call('POST', `/tasks/${task}/complete`, { result: { decision: 'yes' } })).status).toBe(409);
  });

  test('CANCELLED with the run', async () => {
    const { run, task } = await opened('gone');
    await w.call('POST', `/runs/${run}/cancel`, { reason: 'a test' });
    expect((await p.sql('select status from workflow.workflow_task where id = $1', [task]))[0].status).toBe('cancelled');
  });
});

describe('what the suite ships', () => {
  test('the canary passes a step, a timer and an event; platform sees it within 30 s', async () => {
    await p.clock('platform', { now: (await p.sql<{ now: Date }>('select now from workflow.test_clock'))[0]!.now.toISOString() });
    const id = await w.start('canary', { key: 'probe' });
    await w.reaches(id, 'waiting');
    await p.clock('workflow', { advance: 'PT1S' });
    await w.reaches(id, 'succeeded');
    expect(
      await p.sql(`select 1 from events.outbox where type = 'platform.workflow.canary.v1' and data->>'run_id' = $1`, [id]),
    ).toHaveLength(1);
    const staff = await p.userToken(ADMIN, [], { permissions: ['admin:platform:read'] });
    const probes = () => p.rest('GET', '/platform/v1/canaries?kind=workflow', { token: staff });
    const { body } = await until('platform to see it', probes, answer => answer.body.data?.length > 0);
    expect(body.data[0]).toMatchObject({ kind: 'workflow', origin: 'workflow', status: 'ok' }); // later than 30 s it would be late
  });

  test('a disabled workflow has no new runs; an unknown input is a 400 that points at it', async () => {
    expect((await w.call('POST', '/workflows/canary/disable')).body).toMatchObject({ key: 'canary', enabled: false });
    expect((await w.call('POST', '/workflows/canary/runs', { input: {} })).body.reason).toBe('disabled');
    expect((await w.call('POST', '/workflows/canary/enable')).body.enabled).toBe(true);
    const wrong = await w.call('POST', '/workflows/community_digest/runs', { input: { dry_run: 'yes', extra: 1 } });
    expect(wrong.body.errors.map((one: { pointer: string }) => one.pointer).sort()).toEqual(['/input/dry_run', '/input/extra']);
    expect((await w.call('POST', '/workflows/nothing/runs', { input: {} })).status).toBe(404);
    const { data } = (await w.call('GET', '/workflows')).body;
    expect(data.map((one: { key: string }) => one.key)).toEqual(
      expect.arrayContaining(['canary', 'community_digest', 'intelligence_loop']),
    );
    expect((await w.call('GET', '/schedules')).body.data.map((one: { definition_key: string }) => one.definition_key)).toContain(
      'intelligence_loop',
    );
  });
});

describe('who may', () => {
  test('a member’s user token is refused on all operations (403)', async () => {
    const member = await p.userToken(DEMO, ['read:account']);
    const id = '0190b3a0-0000-7000-8000-0000000000d1';
    const answers = await Promise.all(
      ROUTES.routes.map(({ method, path }) =>
        p.rest(method, `/workflow${path.replace(/\{[^}]+\}/g, id)}`, { token: member, body: method === 'POST' ? {} : undefined }),
      ),
    );
    expect([answers.length > 15, new Set(answers.map(answer => answer.status))]).toEqual([true, new Set([403])]);
  });

  test('user.erasure_requested.v1: open runs and tasks of the user cancelled, input, output, results wiped; confirmed', async () => {
    const open = await w.start('test_event', { key: `user:${DEMO}`, user_id: DEMO, input: { user_id: DEMO } });
    const decided = await w.start('test_task', { key: `task:${DEMO}`, user_id: DEMO, input: { user_id: DEMO } });
    for (const id of [open, decided]) await w.reaches(id, 'waiting');
    const identity = await p.serviceToken('admin:identity');
    const requests = '/identity/v1/erasure-requests';
    const { body } = await p.rest('POST', requests, { token: identity, body: { user_id: DEMO, immediate: true } });
    const taskOf = async () =>
      (await p.rest('GET', `${requests}/${body.id}`, { token: identity })).body.tasks.find((one: any) => one.service === 'workflow');
    const task = await until('workflow to confirm', taskOf, one => one?.status === 'confirmed');
    expect(task).toMatchObject({ outcome: 'erased', records: expect.any(Number) });
    for (const id of [open, decided]) expect(await w.run(id)).toMatchObject({ status: 'cancelled', input: null, user: null });
    expect(await p.sql('select status, result from workflow.workflow_task where run_id = $1', [decided])).toEqual([
      { status: 'cancelled', result: null },
    ]);
    for (const table of ['workflow_run_meta', 'workflow_task', 'message', 'wait', 'compensation'])
      expect(await p.sql(`select 1 from workflow.${table} t where t::text like $1`, [`%${DEMO}%`])).toEqual([]);
    for (const table of ['workflow_status', 'operation_outputs', 'notifications'])
      expect(await p.sql(`select 1 from dbos.${table} t where t::text like $1`, [`%${DEMO}%`])).toEqual([]);
    expect(
      await p.sql(`select 1 from events.outbox where type = 'user.erasure_requested.v1' and data->>'request_id' = $1`, [body.id]),
    ).toHaveLength(1);
  });
});
