import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Problem } from '../../runtime/request/errors.js';
import { runLoopTick } from '../../subgraphs/workflow/ports/loop.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { Orchestrator } from './fixture.js';

let p: TestPlatform;
let w: Orchestrator;

/** A Monday. */
const day = (time: string): string => `2027-02-01T${time}.000Z`;

beforeAll(async () => {
  p = await platform({ services: ['workflow', 'intelligence', 'comms'] });
  w = await Orchestrator.open(p, day('07:58:30'));
}, 300_000);
afterEach(() => void vi.useRealTimers());

const scheduled = (definition: string, at: string) =>
  p.sql('update workflow.workflow_trigger set next_at = $2 where definition_key = $1', [definition, at]);
const keysOf = async (definition: string): Promise<string[]> =>
  (await w.runsOf(definition)).map(run => String(run.key)).toSorted((a, b) => a.localeCompare(b));
const missesOf = async (definition: string): Promise<number> =>
  (await w.call('GET', '/schedules')).body.data.find((one: { definition_key: string }) => one.definition_key === definition).misses;

describe('a schedule', () => {
  test('each occurrence starts one run: the canary every 60 s, the digest weekly', async () => {
    await scheduled('canary', day('07:59:00'));
    await scheduled('community_digest', day('08:00:00'));
    await w.clock({ now: day('08:01:00') });
    expect(await keysOf('canary')).toEqual([day('07:59:00'), day('08:00:00'), day('08:01:00')]);
    expect(await keysOf('community_digest')).toEqual([day('08:00:00')]);
    const [digest] = await w.runsOf('community_digest');
    expect(await w.reaches(digest.id, 'succeeded')).toMatchObject({ trigger: 'schedule', output: { dry_run: false } });
    const schedules = (await w.call('GET', '/schedules')).body.data;
    expect(schedules.find((one: { definition_key: string }) => one.definition_key === 'community_digest')).toMatchObject({
      last_at: day('08:00:00'),
      next_at: '2027-02-08T08:00:00.000Z',
    });
  });

  test('missed while down: digests and the canary not at all', async () => {
    const before = { canary: await keysOf('canary'), digest: await keysOf('community_digest'), misses: await missesOf('canary') };
    await p.sql(`update workflow.test_clock set now = '2027-02-08T09:00:30Z'`); // a week without a process
    await w.clock({ advance: 'PT1S' });
    expect(await keysOf('community_digest')).toEqual(before.digest);
    expect(await missesOf('community_digest')).toBe(1);
    const recent = ['08:56', '08:57', '08:58', '08:59', '09:00'].map(time => `2027-02-08T${time}:00.000Z`);
    expect((await keysOf('canary')).filter(key => !before.canary.includes(key))).toEqual(recent); // those of the last five minutes are not missed
    expect(await missesOf('canary')).toBeGreaterThan(before.misses + 10_000);
  }, 60_000);
});

describe('a tick of the loop', () => {
  /** Intelligence answers 503: the database refuses it for the moment. */
  const down = async () => {
    await p.sql(
      `create function intelligence.refuse() returns trigger language plpgsql as $$ begin raise exception 'busy' using errcode = '53300'; end $$`,
    );
    await p.sql('create trigger refuse before insert on intelligence.loop_tick for each row execute function intelligence.refuse()');
  };
  const up = () => p.sql('drop function intelligence.refuse() cascade');

  test('503 three times, then 200 → SUCCEEDED with 4 attempts', async () => {
    await p.sql(`update workflow.workflow_trigger set next_at = null where definition_key <> 'intelligence_loop'`);
    await down();
    const refused = await p.rest('POST', '/intelligence/v1/loop/tick', { token: await p.internalToken('workflow'), body: {} });
    expect(refused.status).toBe(503);
    const id = await w.start('intelligence_loop', { key: 'by hand' });
    for (const [attempts, advance] of [
      [1, 'PT1M'],
      [2, 'PT5M'],
      [3, 'PT15M'],
    ] as const) {
      const run = await until(
        'the attempt',
        () => w.run(id),
        one => one.attempts === attempts && one.status === 'waiting',
      );
      expect((await w.steps(id))[0]).toMatchObject({ error_code: 'unavailable', attempts });
      expect(run.waiting_for.kind).toBe('timer');
      if (attempts === 3) await up();
      await w.clock({ advance });
    }
    expect(await w.reaches(id, 'succeeded')).toMatchObject({ attempts: 4 });
  }, 60_000);

  test('is timed out after 120 s, which is answered as a 503 is', async () => {
    vi.useFakeTimers();
    let given: unknown;
    const host = {
      federation: { run: (_document: unknown, _variables: unknown, options: unknown) => ((given = options), new Promise(() => undefined)) },
    };
    const end = vi.fn<(error: unknown) => void>();
    const tick = runLoopTick(host as never, 'loop:key').catch(end);
    await vi.advanceTimersByTimeAsync(119_999);
    expect([given, end.mock.calls]).toEqual([{ idempotencyKey: 'loop:key' }, []]);
    await vi.advanceTimersByTimeAsync(1);
    await tick;
    expect(end.mock.calls[0]![0]).toBeInstanceOf(Problem);
    expect(end.mock.calls[0]![0]).toMatchObject({ code: 'unavailable', status: 503 });
  });
});
