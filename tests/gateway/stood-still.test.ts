/** A process that stood still, because it or its machine had no time, knows less than it thinks until it has read what came meanwhile. */
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

afterEach(() => void vi.restoreAllMocks());

const MINUTES_MS = 120_000;
let stoodStill = 0;

/** Lets the clock of timeouts and silences jump, as it does for a process that stands still: each time beyond what was before. */
function standStill(): void {
  const now = performance.now.bind(performance);
  stoodStill += MINUTES_MS;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + stoodStill);
}

const WAITING = `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

describe.each(['process', 'http'])('with subgraphs called by %s', calls => {
  let p: TestPlatform;
  let token: string;
  beforeAll(async () => {
    p = await platform({ services: ['platform'], env: { SUBGRAPH_CALLS: calls } });
    token = await p.serviceToken();
  });

  const read = () => p.rest('GET', '/platform/v1/brands', { token });

  test('requests after a standstill wait for the feed of revocations, and are answered', async () => {
    expect((await read()).status).toBe(200);
    standStill();
    const answers = await Promise.all(Array.from({ length: 4 }, read));
    expect(answers.map(({ status, body }) => [status, body.detail])).toEqual(Array(4).fill([200, undefined]));
  });

  test('so are requests that were under way, whose access is decided after it', async () => {
    const holder = new pg.Client({ connectionString: p.env.DATABASE_URL });
    await holder.connect();
    await holder.query('begin; lock table platform.test_clock in access exclusive mode'); // every request reads the clock first
    const asked = read();
    await until(
      'the request to read the clock',
      async () => (await p.sql<{ waiting: number }>(WAITING))[0]!.waiting,
      count => count > 0,
    );
    standStill();
    await holder.end();
    const { status, body } = await asked;
    expect([status, body.detail]).toEqual([200, undefined]);
  });
});
