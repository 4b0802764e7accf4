import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { define, defineTask, Orchestrator } from './fixture.js';

let p: TestPlatform;
let w: Orchestrator;

const HOUR_MS = 3_600_000;
defineTask('test_task', { assigneeRole: 'clinician' });
defineTask('test_own_task', { assigneeId: DEMO2 });
define('test_waits', async run => {
  const until = new Date((await run.now()).getTime() + HOUR_MS);
  if (run.key.endsWith('timer')) await run.sleepUntil(until);
  else await run.waitEvent('document.signed', run.key, until);
  return {};
});

beforeAll(async () => {
  p = await platform({ services: ['workflow'] });
  w = await Orchestrator.open(p, '2026-12-01T00:00:00.000Z');
}, 300_000);

const staff = (id: string, role: string, ...permissions: string[]) =>
  p.userToken(id, ['read:account'], { permissions, roles: [role] } as never);
const clinician = (id = ADMIN) => staff(id, 'clinician', 'admin:clinical');
const developer = () => staff(ADMIN, 'developer', 'admin:jobs');

async function opened(definition: string, key: string): Promise<{ run: string; task: string }> {
  const run = await w.start(definition, { key });
  await w.reaches(run, 'waiting');
  return { run, task: (await w.tasks(run))[0]!.id };
}

const on = (task: string, action: string, token: string, body?: object) => w.call('POST', `/tasks/${task}/${action}`, body, token);

describe('a task', () => {
  test('is for staff whose role or id is the assignee, and not for whoever may operate workflows', async () => {
    const { run, task } = await opened('test_task', 'roles');
    const { task: own } = await opened('test_own_task', 'own');
    const others = [await developer(), await staff(DEMO2, 'owner', 'admin:jobs:workflow:operate')];
    const result = { result: { decision: 'yes' } };
    for (const other of others)
      for (const [action, body] of [['claim'], ['release'], ['complete', result]] as const)
        expect((await on(task, action, other, body)).status).toBe(404);
    const listed = async (token: string) =>
      (await w.call('GET', '/tasks?status=open', undefined, token)).body.data.map((one: any) => one.id);
    expect(await listed(others[0]!)).toEqual([]);
    expect(await listed(others[1]!)).toEqual([own]); // by its id
    expect(await listed(await clinician())).toEqual([task]);
    expect(await listed(w.token)).toEqual(expect.arrayContaining([task, own])); // S
    const entity = 'query($of: [_Any!]!) { _entities(representations: $of) { ... on WorkflowTask { id } } }';
    const asked = await p.rest('POST', '/workflow/graphql', {
      token: others[0],
      body: { query: entity, variables: { of: [{ __typename: 'WorkflowTask', id: task }] } },
    });
    expect(asked.body.data._entities).toEqual([null]);
    expect((await on(task, 'complete', await clinician(), result)).status).toBe(200);
    await w.reaches(run, 'succeeded');
  });

  test('CLAIMED → OPEN (released), and by another than who claimed it 409', async () => {
    const { task } = await opened('test_task', 'released');
    const [one, two] = [await clinician(), await clinician(DEMO2)];
    expect((await on(task, 'release', one)).status).toBe(409); // nobody has it
    expect((await on(task, 'claim', one)).body).toMatchObject({ status: 'claimed', claimed_by: ADMIN });
    expect((await on(task, 'release', two)).body).toMatchObject({ status: 409, reason: 'claimed_by_another' });
    expect((await on(task, 'complete', two, { result: { decision: 'no' } })).body).toMatchObject({
      status: 409,
      reason: 'claimed_by_another',
    });
    expect((await on(task, 'release', one)).body).toMatchObject({ status: 'open', claimed_by: null });
    expect((await on(task, 'claim', two)).body).toMatchObject({ status: 'claimed', claimed_by: DEMO2 });
  });

  test('that is EXPIRED is a 409 for claim, release and complete', async () => {
    const { run, task } = await opened('test_task', 'expired');
    await w.clock({ advance: 'PT1H' });
    await w.reaches(run, 'succeeded');
    expect((await w.tasks(run))[0]!.status).toBe('expired');
    const answers = [
      await on(task, 'claim', await clinician()),
      await on(task, 'release', await clinician()),
      await on(task, 'complete', await clinician(), { result: { decision: 'yes' } }),
    ];
    expect(answers.map(answer => answer.status)).toEqual([409, 409, 409]);
  });
});

describe('staff', () => {
  test('who may operate start, cancel, resume, fork, enable and disable, and read nothing else; who may read do only that', async () => {
    const operator = await staff(ADMIN, 'support', 'admin:jobs:workflow:operate');
    const reader = await staff(DEMO2, 'support', 'admin:jobs:workflow:read');
    const as = (token: string) => (method: string, path: string, body?: object) => w.call(method, path, body, token);
    const started = await as(operator)('POST', '/workflows/test_waits/runs', { key: 'operated:timer', input: {} });
    expect([started.status, started.body.definition_key]).toEqual([201, 'test_waits']);
    const { id } = started.body;
    await w.reaches(id, 'waiting');
    const writes = [
      ['/workflows/test_waits/enable', {}],
      [`/runs/${id}/cancel`, { reason: 'a test' }],
      [`/runs/${id}/fork`, { step: 1, reason: 'a test' }],
    ] as const;
    for (const [path, body] of writes) {
      expect((await as(reader)('POST', path, body)).status, path).toBe(403);
      expect((await as(operator)('POST', path, body)).status, path).toBeLessThan(300);
    }
    for (const path of ['/workflows', '/workflows/test_waits', '/runs', `/runs/${id}`, `/runs/${id}/steps`, '/schedules']) {
      expect((await as(operator)('GET', path)).status, path).toBe(403);
      expect((await as(reader)('GET', path)).status, path).toBe(200);
    }
  });

  test('may not signal a run, whatever their permissions: services do', async () => {
    const id = await w.start('test_waits', { key: 'signalled' });
    await w.reaches(id, 'waiting');
    const signal = { name: 'document.signed', payload: {}, idempotency_key: 'one' };
    expect((await w.call('POST', `/runs/${id}/signal`, signal, await developer())).status).toBe(403);
    expect((await w.call('POST', `/runs/${id}/signal`, signal)).status).toBe(202);
    await w.reaches(id, 'succeeded');
  });
});

describe('runs', () => {
  test('are found by waitingFor, userId, from and to', async () => {
    await w.clock({ now: '2027-01-01T00:00:00.000Z' });
    const timer = await w.start('test_waits', { key: 'found:timer', user_id: DEMO });
    await w.clock({ now: '2027-01-01T00:10:00.000Z' });
    const event = await w.start('test_waits', { key: 'found:event', user_id: DEMO2 });
    for (const id of [timer, event]) await w.reaches(id, 'waiting');
    const found = async (filter: string): Promise<string[]> =>
      (await w.call('GET', `/runs?definition=test_waits&${filter}`)).body.data.map((run: { id: string }) => run.id);
    const [begin, middle, end] = ['00:00', '00:10', '00:11'].map(time => `2027-01-01T${time}:00.000Z`);
    expect(await found('waiting_for=timer')).toEqual([timer]);
    expect(await found('waiting_for=event')).toEqual([event]);
    expect(await found(`user_id=${DEMO}`)).toEqual([timer]);
    expect(await found(`from=${begin}&to=${middle}`)).toEqual([timer]); // from the first instant, before the second
    expect(await found(`from=${middle}`)).toEqual([event]);
    expect(await found(`from=${begin}&to=${end}`)).toEqual([event, timer]);
  });

  test('of a user are a field of the user for services and who may read', async () => {
    const document = 'query($id: ID!) { user(id: $id) { id workflowRuns { key status waitingFor { kind } } } }';
    const runsOf = (id: string, token: string) => p.graphql(document, { id }, { token });
    const [mine] = [{ key: 'found:timer', status: 'WAITING', waitingFor: { kind: 'timer' } }];
    expect((await runsOf(DEMO, w.token)).data.user.workflowRuns).toEqual([mine]);
    expect((await runsOf(DEMO, await staff(ADMIN, 'admin', 'admin:jobs', 'admin:identity'))).data.user.workflowRuns).toEqual([mine]);
    const refused = await runsOf(DEMO, await staff(ADMIN, 'support', 'admin:identity'));
    expect(refused.errors[0]?.extensions.code).toMatch(/forbidden|insufficient_scope/i);
  });
});

test('a definition shows what starts its runs: schedule, event with filter and key expression, hand', async () => {
  const triggersOf = async (key: string) => (await w.call('GET', `/workflows/${key}`)).body.triggers;
  const none = { cron: null, time_zone: null, event_type: null, filter: null, next_at: null };
  expect(await triggersOf('red_flag_followup')).toEqual([
    {
      ...none,
      definition_key: 'red_flag_followup',
      kind: 'event',
      event_type: 'clinical.red_flag.detected.v1',
      filter: { severity: ['urgent', 'warning'] },
      key_expr: '{data.flag_id}',
    },
    { ...none, definition_key: 'red_flag_followup', kind: 'manual', key_expr: '{key}' },
  ]);
  expect((await triggersOf('consult_followup')).map((one: { key_expr: string }) => one.key_expr)).toEqual([
    '{data.consult_id}',
    'partner:{data.consult_ref}',
    '{key}',
  ]);
  expect((await triggersOf('canary'))[0]).toMatchObject({
    kind: 'schedule',
    cron: '* * * * *',
    time_zone: 'UTC',
    key_expr: '{occurrence}',
  });
});
