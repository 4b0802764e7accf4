import { expect, test } from 'vitest';
import { SERVICES } from '../../subgraphs/services.js';
import { DEMO, freePort, platform } from '../support/platform.js';

test("identity's fronts are 503 while entitlements is down", async () => {
  const others = Object.keys(SERVICES).filter(slug => slug !== 'entitlements');
  const env = { SERVICES: others.join(','), SUBGRAPH_URL_ENTITLEMENTS: `http://127.0.0.1:${await freePort()}` };
  const p = await platform({ services: ['entitlements'], env });
  const token = await p.userToken(DEMO, ['read:entitlements']);
  for (const path of [DEMO, `${DEMO}/check/live.host`]) {
    const answer = await p.rest('GET', `/identity/v1/entitlements/${path}`, { token });
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(answer.headers['retry-after']).toBeDefined();
  }
});
