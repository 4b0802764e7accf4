/** A process that stood still, because it or its machine had no time, knows less than it thinks until it has read what came meanwhile. */
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';

afterEach(() => void vi.restoreAllMocks());

/** Lets the clock of timeouts and silences jump, as it does for a process that stands still. */
function standStill(ms: number): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
}

describe.each(['process', 'http'])('with subgraphs called by %s', calls => {
  let p: TestPlatform;
  let token: string;
  beforeAll(async () => {
    p = await platform({ services: ['platform'], env: { SUBGRAPH_CALLS: calls } });
    token = await p.serviceToken();
  });

  test('requests after a minute of standstill wait for the feed of revocations, and are answered', async () => {
    expect((await p.rest('GET', '/platform/v1/brands', { token })).status).toBe(200);
    standStill(60_000);
    const answers = await Promise.all(Array.from({ length: 4 }, () => p.rest('GET', '/platform/v1/brands', { token })));
    expect(answers.map(({ status, body }) => [status, body.detail])).toEqual(Array(4).fill([200, undefined]));
  });
});
