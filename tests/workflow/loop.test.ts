import { beforeAll, describe, expect, test } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

let p: TestPlatform;
let token: string;

beforeAll(async () => {
  p = await platform({ services: ['workflow', 'intelligence'], env: { LOG_LEVEL: 'fatal' } }); // intelligence logs loudly that it is down
  token = await p.serviceToken();
  await p.sql(`update workflow.workflow_trigger set next_at = null where definition_key <> 'intelligence_loop'`);
  await p.sql(`update workflow.workflow_trigger set next_at = '2027-02-01T00:07:00Z' where definition_key = 'intelligence_loop'`);
  await p.sql(`update workflow.workflow_definition set last_success_at = '2027-02-01T00:00:00Z'`);
  await p.clock('workflow', { now: '2027-02-01T00:00:00.000Z' });
}, 300_000);

interface Run {
  id: string;
  key: string;
  status: string;
  output: { tick_id: string | null; outcome: string } | null;
  error_code: string | null;
  attempts: number;
}

const runs = async (): Promise<Run[]> =>
  (await p.rest('GET', '/workflow/v1/runs?definition=intelligence_loop&limit=100', { token })).body.data.toReversed();
const ticks = () =>
  p.sql<{ key: string; status: string }>(
    `select idempotency_key as key, status from intelligence.loop_tick where client_id = 'svc-workflow' order by started_at, id`,
  );
const last = async (): Promise<Run> => (await runs()).at(-1)!;
const alarms = (template: string) => p.sql(`select data from events.outbox where data->>'template' = $1`, [template]);
/** Nothing of intelligence can be written: it is down. */
const down = () => p.sql('revoke insert on intelligence.loop_tick from platform_intelligence');
const up = () => p.sql('grant insert on intelligence.loop_tick to platform_intelligence');

describe('the orchestrator of the loop', () => {
  test('clock over 3 h → 3 runs, 3 ticks, each with its own key', async () => {
    await p.clock('workflow', { now: '2027-02-01T03:00:00.000Z' });
    const keys = ['2027-02-01T00:07:00.000Z', '2027-02-01T01:07:00.000Z', '2027-02-01T02:07:00.000Z'];
    expect((await runs()).map(run => [run.key, run.status])).toEqual(keys.map(key => [key, 'succeeded']));
    expect((await ticks()).map(tick => tick.key).sort()).toEqual(keys.map(key => `loop:${key}`));
  }, 180_000);

  test('a tick names the run that asked for it', async () => {
    const [first] = await runs();
    const document = 'query($id: ID!) { loopTick(id: $id) { id workflowRun { id key status } } }';
    const { data } = await p.graphql(document, { id: first!.output!.tick_id }, { token });
    expect(data.loopTick.workflowRun).toEqual({ id: first!.id, key: first!.key, status: 'SUCCEEDED' });
  });

  test('tick answers 409 → run SUCCEEDED', async () => {
    const key = 'loop:2027-02-01T03:07:00.000Z';
    await p.sql(
      `insert into intelligence.loop_tick select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'status', 'running', 'idempotency_key', $1::text))).*
      from intelligence.loop_tick t limit 1`,
      [key],
    );
    await p.clock('workflow', { now: '2027-02-01T03:30:00.000Z' });
    expect(await last()).toMatchObject({ status: 'succeeded', output: { tick_id: null, outcome: 'another_tick' }, attempts: 1 });
    await p.sql('delete from intelligence.loop_tick where idempotency_key = $1', [key]);
  }, 180_000);

  test('tries again after 1, 5 and 15 minutes while intelligence is down, and succeeds with its fourth attempt', async () => {
    await down();
    await p.clock('workflow', { now: '2027-02-01T04:07:00.000Z' });
    for (const [attempts, advance] of [
      [1, 'PT1M'],
      [2, 'PT5M'],
    ] as const) {
      expect(await last()).toMatchObject({ status: 'waiting', attempts });
      await p.clock('workflow', { advance });
    }
    expect(await last()).toMatchObject({ status: 'waiting', attempts: 3 });
    await up();
    await p.clock('workflow', { advance: 'PT15M' });
    expect(await last()).toMatchObject({ status: 'succeeded', attempts: 4 });
    expect((await ticks()).filter(tick => tick.key === 'loop:2027-02-01T04:07:00.000Z')).toHaveLength(1);
  }, 180_000);

  test('always down → FAILED, alarm; without success for 3 h one more', async () => {
    await down();
    await p.clock('workflow', { now: '2027-02-01T05:40:00.000Z' });
    expect(await last()).toMatchObject({ status: 'failed', error_code: 'unavailable', attempts: 4 });
    expect(await alarms('workflow_failed')).toHaveLength(1);
    expect(await alarms('workflow_loop_tick_missing')).toHaveLength(0);
    await p.clock('workflow', { now: '2027-02-01T09:00:00.000Z' });
    expect(await alarms('workflow_loop_tick_missing')).toHaveLength(1);
    await up();
  }, 180_000);

  test('missed while down: the loop runs once', async () => {
    const before = (await runs()).length;
    await p.sql(`update workflow.test_clock set now = '2027-02-01T15:30:00Z'`);
    await p.clock('workflow', { advance: 'PT1S' });
    await until(
      'its run',
      async () => (await runs()).length,
      count => count === before + 1,
    );
    await until('its success', last, run => run.status === 'succeeded');
    expect(await last()).toMatchObject({ key: '2027-02-01T15:07:00.000Z' });
    const schedules = (await p.rest('GET', '/workflow/v1/schedules', { token })).body.data;
    expect(schedules.find((one: any) => one.definition_key === 'intelligence_loop')).toMatchObject({ misses: 6 });
  }, 180_000);

  test('svc-workflow calls approve, apply, promote → 403', async () => {
    const orchestrator = await p.internalToken('workflow');
    const id = '0190b3a0-0000-7000-8000-0000000000d1';
    const paths = [`governance/proposals/${id}/approve`, `governance/proposals/${id}/apply`, `registry/${id}/promote`];
    const answers = await Promise.all(paths.map(path => p.rest('POST', `/intelligence/v1/${path}`, { token: orchestrator, body: {} })));
    expect(answers.map(answer => answer.status)).toEqual([403, 403, 403]);
  });
});
