import { beforeAll, describe, expect, test } from 'vitest';
import { durationMs } from '../../runtime/time/durations.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

test.each([
  ['P90D', 7_776_000_000],
  ['PT6H', 21_600_000],
  ['P1W', 604_800_000],
  ['P1DT2H3M4.5S', 93_784_500],
  ['PT0S', 0],
  ['P', null],
  ['P1DT', null],
  ['90D', null],
  ['P1M', null],
  ['-P1D', null],
  ['', null],
])('the duration %s is %s ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

describe('the manual clock', () => {
  let p: TestPlatform;
  beforeAll(async () => {
    p = await platform({ services: ['clinical'] });
  });
  const move = async (body: object) => p.rest('POST', '/platform/v1/admin/test-clock', { token: await p.serviceToken(), body });

  test('stands where it was set, moves forward, never back', async () => {
    expect(await move({ now: '2026-08-01T08:00:00.000Z' })).toMatchObject({ status: 200, body: { now: '2026-08-01T08:00:00.000Z' } });
    expect(await move({ advance: 'P90D' })).toMatchObject({ status: 200, body: { now: '2026-10-30T08:00:00.000Z' } });
    expect(await move({ now: '2026-10-30T07:59:59.999Z' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  test.each([
    [{}],
    [{ now: '2027-01-01T00:00:00.000Z', advance: 'P1D' }],
    [{ advance: 'soon' }],
    [{ now: 'yesterday' }],
    [{ later: true }],
  ])('%j is a 400', async body => {
    expect((await move(body)).status).toBe(400);
  });

  test('belongs to one service; others keep theirs', async () => {
    const [row] = await p.sql('select count(*)::int as rows from clinical.test_clock');
    expect(row).toEqual({ rows: 0 });
  });

  test('needs the admin scope of the service', async () => {
    const answer = await p.rest('POST', '/platform/v1/admin/test-clock', {
      token: await p.serviceToken('admin:clinical'),
      body: { advance: 'P1D' },
    });
    expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    expect(answer.headers['www-authenticate']).toContain('scope="admin:platform"');
  });

  test('that is first set to the past runs a sweep again at the instant for which it ran by the wall clock', async () => {
    const last = "select slot, finished_at from clinical.schedule_slot where name = 'retest.sweep' order by slot desc limit 1";
    const [seen] = await until(
      'the sweep of the start',
      () => p.sql<{ slot: Date; finished_at: Date | null }>(last),
      rows => rows[0]?.finished_at != null,
    );
    const dayBefore = new Date(seen!.slot.getTime() - 86_400_000).toISOString();
    await p.clock('clinical', { now: dayBefore });
    await p.clock('clinical', { advance: 'P1D' });
    const [row] = await p.sql('select count(*)::int as runs from clinical.sweep_run where started_at = $1', [seen!.slot]);
    expect(row).toEqual({ runs: 1 });
  });
});

describe('without CLOCK=manual', () => {
  let p: TestPlatform;
  beforeAll(async () => {
    p = await platform({ services: ['clinical'], manualClock: false });
  });

  test('the test controls are 404', async () => {
    for (const [path, body] of [
      ['test-clock', { advance: 'P1D' }],
      ['test-flags', { key: 'a.b', value: true }],
      ['test-faults', { point: 'x', times: 1 }],
    ] as const) {
      expect((await p.rest('POST', `/clinical/v1/admin/${path}`, { token: await p.serviceToken(), body })).status).toBe(404);
    }
  });
});
