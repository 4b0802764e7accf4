import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { FlagClient } from '../../runtime/flags/client.js';
import { FlagUsage, type UsageCount } from '../../runtime/flags/usage.js';
import { BRAND, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { CYCLE, flag, snapshot } from './flag-fixtures.js';

const KEY = 'feature.this';

/** A client whose reports the test takes, or refuses. */
function reporting() {
  const state = { reports: [] as { counts: readonly UsageCount[]; key: string }[], down: false };
  const usage = new FlagUsage(async (counts, key) => {
    state.reports.push({ counts, key });
    if (state.down) throw new Error('down');
  }, 60_000);
  const client = new FlagClient(
    async () => snapshot(flag(KEY)),
    pino({ level: 'silent' }),
    () => 0,
    usage,
  );
  return { state, usage, client };
}

describe('a client of the flags', () => {
  test('counts what it evaluated by flag, variant, reason and brand, and names no users', async () => {
    const { state, usage, client } = reporting();
    client.evaluate(KEY); // before there is a snapshot
    await client.refresh();
    client.evaluate('feature.nope');
    for (let times = 0; times < 3; times++) client.boolean(KEY, { brandId: BRAND, userId: DEMO });
    client.evaluate(KEY, { brandId: 'not an id' });
    await usage.report();
    expect(state.reports.map(({ counts }) => counts)).toEqual([
      [
        { flag: KEY, variant: 'on', reason: 'DEFAULT', brandId: BRAND, count: 3 },
        { flag: KEY, variant: 'on', reason: 'DEFAULT', brandId: null, count: 1 },
      ],
    ]);
    expect(JSON.stringify(state.reports)).not.toContain(DEMO);
    await usage.report();
    expect(state.reports).toHaveLength(1); // nothing new
  });

  test('does not count what a test overrides', async () => {
    const { state, usage, client } = reporting();
    await client.refresh();
    client.override(KEY, false);
    client.evaluate(KEY);
    await usage.report();
    expect(state.reports).toEqual([]);
  });

  test('says a report that had no answer again under its key, and then what came since', async () => {
    const { state, usage, client } = reporting();
    await client.refresh();
    client.evaluate(KEY);
    state.down = true;
    await expect(usage.report()).rejects.toThrow('down');
    client.evaluate(KEY);
    state.down = false;
    await usage.report();
    await usage.report();
    const [first, again, rest] = state.reports;
    expect(again).toEqual(first);
    expect(rest!.counts).toMatchObject([{ count: 1 }]);
    expect(rest!.key).not.toBe(first!.key);
  });

  test('keeps a thousand counters at most', async () => {
    const { state, usage } = reporting();
    for (let index = 0; index < 1500; index++)
      usage.count({ key: `feature.f${index}`, value: true, variant: 'on', reason: 'DEFAULT', errorCode: null, revision: 1 }, null);
    await usage.report();
    expect(state.reports[0]!.counts).toHaveLength(1000);
  });
});

describe('the services of a platform', () => {
  let p: TestPlatform;
  beforeAll(async () => {
    p = await platform({ services: ['platform', 'clinical'], env: { PLATFORM_FLAG_USAGE_MS: '50' } });
  });

  test('report the use of their flags to the platform service, which adds it up', async () => {
    const read = () =>
      p.sql(
        `select variant, reason, sum(count)::int as count from platform.flag_usage where flag_key = $1 and brand_id = $2 group by 1, 2`,
        [CYCLE, BRAND],
      );
    const evaluate = (times: number) => {
      for (let index = 0; index < times; index++) p.host('clinical').flags.evaluate(CYCLE, { brandId: BRAND, userId: DEMO });
    };
    evaluate(3);
    await until('the first report', read, rows => rows[0]?.count === 3);
    evaluate(2);
    const rows = await until('the second report', read, found => found[0]?.count === 5);
    expect(rows).toEqual([{ variant: 'off', reason: expect.stringMatching(/^(DEFAULT|DISABLED)$/), count: 5 }]);
  });
});
