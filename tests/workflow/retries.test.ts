import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Problem, type ProblemCode } from '../../runtime/request/errors.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { define, Orchestrator } from './fixture.js';

let p: TestPlatform;
let w: Orchestrator;
/** What was undone, in order. */
const undone: string[] = [];
/** Arguments of compensations that fail, and how. */
const faults = new Map<string, Error>();
/** What a step of a run answers, by the key of the run. */
const problems = new Map<string, ProblemCode>();

define(
  'test_undo',
  async run => {
    for (const part of ['first', 'second', 'third']) await run.onCancel('undo', { what: `${run.key}:${part}` });
    await run.sleepUntil(new Date((await run.now()).getTime() + 20 * 86_400_000));
    return {};
  },
  {
    timeoutDays: 30,
    compensations: {
      undo: async (_step, { what }) => {
        const fault = faults.get(String(what));
        if (fault) throw fault;
        undone.push(String(what));
      },
    },
  },
);
define(
  'test_flaky',
  async run => {
    await run.step('call', async () => {
      const problem = problems.get(run.key);
      if (problem) throw new Problem(problem, 'a test');
      return null;
    });
    return {};
  },
  { timeoutDays: 30 },
);

beforeAll(async () => {
  p = await platform({ services: ['workflow'] });
  w = await Orchestrator.open(p, '2026-12-01T00:00:00.000Z');
}, 300_000);
beforeEach(() => faults.clear());

/** Source: workflow 7.8. */
const NOMINAL = [1, 4, 16, 64, 300];
const isSpread = (seconds: number, index: number): boolean => Math.abs(seconds / NOMINAL[index]! - 1) <= 0.2;
const at = async (): Promise<number> => (await p.sql<{ now: Date }>('select now from workflow.test_clock'))[0]!.now.getTime();

describe('a step', () => {
  test('is retried 5 times by default, 1 s → 5 min with jitter; then the run is FAILED', async () => {
    problems.set('down', 'unavailable');
    const id = await w.start('test_flaky', { key: 'down' });
    const delays: number[] = [];
    for (let attempt = 1; attempt <= NOMINAL.length; attempt++) {
      const run = await w.reaches(id, 'waiting');
      expect(run).toMatchObject({ attempts: attempt, waiting_for: { kind: 'timer', name: 'retry of call' } });
      delays.push((Date.parse(run.waiting_for.until) - (await at())) / 1000);
      await w.clock({ now: run.waiting_for.until });
    }
    expect(await w.reaches(id, 'failed')).toMatchObject({ attempts: 6, error_code: 'unavailable' });
    expect([delays.filter(isSpread), delays]).toEqual([delays, expect.not.arrayContaining(NOMINAL)]);
  });

  test.each(['conflict', 'rate_limited'] as const)('that is answered %s (409, 429) is retried', async code => {
    problems.set(code, code);
    const id = await w.start('test_flaky', { key: code });
    await w.reaches(id, 'waiting');
    problems.delete(code);
    await w.clock({ advance: 'PT2S' });
    expect(await w.reaches(id, 'succeeded')).toMatchObject({ attempts: 2 });
  });

  test.each(['invalid_request', 'forbidden', 'not_found', 'idempotency_mismatch'] as const)(
    'that is answered %s, a 4xx other than 409, 429, is final',
    async code => {
      problems.set(code, code);
      const id = await w.start('test_flaky', { key: code });
      expect(await w.reaches(id, 'failed')).toMatchObject({ attempts: 1, error_code: code });
    },
  );
});

describe('a compensation', () => {
  async function cancelled(key: string): Promise<string> {
    const id = await w.start('test_undo', { key });
    await w.reaches(id, 'waiting');
    expect((await w.call('POST', `/runs/${id}/cancel`, { reason: 'a test' })).body.status).toBe('cancelled');
    return id;
  }
  const of = (key: string): string[] => undone.filter(one => one.startsWith(`${key}:`)).map(one => one.split(':')[1]!);
  const rows = (id: string) =>
    p.sql("select args->>'what' as what, attempts, retry_at, error_code from workflow.compensation where run_id = $1 order by idx", [id]);
  const attempts = async (id: string): Promise<number> => Math.max(...(await rows(id)).map(row => row.attempts));

  test('that fails keeps no other run from being undone; it is tried again, and what is before it waits', async () => {
    faults.set('bad:second', new Error('down'));
    const bad = await cancelled('bad');
    await until(
      'its attempt',
      () => attempts(bad),
      count => count === 1,
    );
    expect(of('bad')).toEqual(['third']);
    await cancelled('good');
    await until(
      'the other run',
      async () => of('good'),
      list => list.length === 3,
    );
    expect(of('good')).toEqual(['third', 'second', 'first']);
    expect((await w.call('POST', `/runs/${bad}/resume`, { reason: 'too early' })).body).toMatchObject({
      status: 409,
      reason: 'cancelling',
    });
    faults.clear();
    await w.clock({ advance: 'PT2S' });
    await until(
      'the rest',
      async () => of('bad'),
      list => list.length === 3,
    );
    expect(of('bad')).toEqual(['third', 'second', 'first']);
  });

  test('is given up after 5 retries with an alarm in the log, and the others are undone all the same', async () => {
    const log = vi.spyOn(p.host('workflow').log, 'error');
    const alarms = () => log.mock.calls.map(([fields]) => fields as { alarm?: string }).filter(fields => 'alarm' in fields);
    faults.set('hopeless:second', new Error('down'));
    const id = await cancelled('hopeless');
    for (let attempt = 1; attempt <= NOMINAL.length; attempt++) {
      await until(
        'the attempt',
        () => attempts(id),
        count => count === attempt,
      );
      const [, second] = await rows(id);
      expect(isSpread((second.retry_at.getTime() - (await at())) / 1000, attempt - 1)).toBe(true);
      expect(alarms()).toEqual([]);
      await w.clock({ now: second.retry_at.toISOString() });
    }
    await until(
      'the rest',
      async () => of('hopeless'),
      list => list.length === 2,
    );
    const about = { definition: 'test_undo', run_id: id, compensation: 'undo' };
    expect(alarms()).toEqual([{ alarm: 'workflow_compensation_failed', ...about, error_code: expect.any(String), attempts: 6 }]);
    expect(await w.messages('workflow_compensation_failed')).toMatchObject([{ role: 'developer', ...about }]);
    expect(of('hopeless')).toEqual(['third', 'first']);
    log.mockRestore();
    await until(
      'the end',
      () => p.sql('select 1 from workflow.workflow_run_meta where id = $1 and cancel_pending', [id]),
      found => found.length === 0,
    );
  });

  test('that was given up is tried again when the run is resumed and cancelled again', async () => {
    faults.set('again:third', new Problem('not_found', 'a test')); // final
    const id = await cancelled('again');
    const ended = () => p.sql('select 1 from workflow.workflow_run_meta where id = $1 and cancel_pending', [id]);
    await until('the end', ended, found => found.length === 0);
    expect([of('again'), await attempts(id)]).toEqual([['second', 'first'], 1]);
    faults.clear();
    await w.call('POST', `/runs/${id}/resume`, { reason: 'after all' });
    await w.reaches(id, 'waiting');
    await w.call('POST', `/runs/${id}/cancel`, { reason: 'after all not' });
    await until(
      'the rest',
      async () => of('again'),
      list => list.length === 3,
    );
    expect(of('again')).toEqual(['second', 'first', 'third']);
  });
});

test('every operator action is audited: who, what, which run or workflow, why', async () => {
  const id = await w.start('test_undo', { key: 'audited' });
  await w.reaches(id, 'waiting');
  const ended = () => p.sql('select 1 from workflow.workflow_run_meta where id = $1 and cancel_pending', [id]);
  await w.call('POST', `/runs/${id}/cancel`, { reason: 'why not' });
  await until('the end', ended, found => found.length === 0);
  await w.call('POST', `/runs/${id}/resume`, { reason: 'after all' });
  const fork = await w.call('POST', `/runs/${id}/fork`, { step: 1, reason: 'once more' });
  for (const action of ['disable', 'enable']) await w.call('POST', `/workflows/test_undo/${action}`);
  const audit = (target: string) =>
    p.sql(`select action, actor, details from workflow.audit_log where target = $1 and actor->>'kind' <> 'system' order by at, id`, [
      target,
    ]);
  const actor = { kind: 'service', client_id: 'demo-m2m' };
  expect(await audit(id)).toMatchObject([
    { action: 'workflow_run.started', actor, details: { definition: 'test_undo' } },
    { action: 'workflow_run.cancelled', actor, details: { was: 'waiting', reason: 'why not' } },
    { action: 'workflow_run.resumed', actor, details: { was: 'cancelled', reason: 'after all' } },
  ]);
  expect(await audit(fork.body.id)).toMatchObject([
    { action: 'workflow_run.forked', actor, details: { from: id, step: 1, reason: 'once more' } },
  ]);
  expect(await audit('test_undo')).toMatchObject([
    { action: 'workflow.disabled', actor },
    { action: 'workflow.enabled', actor },
  ]);
});
