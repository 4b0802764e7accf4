import { beforeAll, describe, expect, test } from 'vitest';
import { SLUGS } from '../../events/slugs.js';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';

/** Platform 4.3. */
const READY: Record<string, string> = {
  identity: 'stable',
  accounting: 'stable',
  payments: 'stable',
  comms: 'stable',
  webhooks: 'stable',
  events: 'stable',
  jobs: 'stable',
  platform: 'stable',
  analytics: 'beta',
  clinical: 'beta',
  commerce: 'beta',
  ai: 'preview',
  partner: 'preview',
  cash: 'preview',
};
const NOT_READY: Record<string, string> = {
  affiliates: 'beta',
  'patient-graph': 'beta',
  membership: 'beta',
  content: 'preview',
  follows: 'preview',
  booking: 'preview',
  community: 'preview',
  entitlements: 'preview',
  integrations: 'preview',
};
const CRITICAL = ['identity', 'payments', 'commerce', 'clinical', 'events', 'platform'];

let p: TestPlatform;
let user: string;

beforeAll(async () => {
  p = await platform();
  user = await p.userToken(DEMO, ['read:profile']);
});

const list = (query = '') => p.rest('GET', `/platform/v1/services${query}`, { token: user });
const slugsOf = ({ body }: { body: { data: { slug: string }[] } }) => body.data.map(({ slug }) => slug).sort();

describe('the registry', () => {
  test('has the 28 services with the maturity and readiness of the specification', async () => {
    const { status, body } = await list();
    expect([status, body.data.length]).toEqual([200, 28]);
    const told = body.data.map(({ slug, maturity, production_ready, critical }: any) => [slug, maturity, production_ready, critical]);
    const expected = [...SLUGS]
      .sort()
      .map(slug => [
        slug,
        READY[slug] ?? NOT_READY[slug] ?? null,
        slug in READY ? true : slug in NOT_READY ? false : null,
        CRITICAL.includes(slug),
      ]);
    expect(told).toEqual(expected);
  });

  test('says of each what it is called and for', async () => {
    const { body } = await p.rest('GET', '/platform/v1/services/intelligence', { token: user });
    expect(body).toEqual({
      slug: 'intelligence',
      name: 'Intelligence',
      purpose: 'Ranking, decision ledger, honesty metrics, governed proposals',
      maturity: null,
      production_ready: null,
      critical: false,
    });
  });

  test('is filtered by maturity and readiness', async () => {
    expect(slugsOf(await list('?maturity=beta&production_ready=false'))).toEqual(['affiliates', 'membership', 'patient-graph']);
    expect(slugsOf(await list('?production_ready=true'))).toEqual(Object.keys(READY).sort());
    expect((await list('?maturity=nonsense')).status).toBe(400);
  });

  test('does not find a service that is none', async () => {
    expect((await p.rest('GET', '/platform/v1/services/nope', { token: user })).status).toBe(404);
  });

  test('is the same in GraphQL', async () => {
    const { data } = await p.graphql(
      '{ platformServices(maturity: STABLE) { slug } platformService(slug: "cash") { maturity productionReady } }',
      {},
      { token: user },
    );
    expect(data.platformServices.map(({ slug }: { slug: string }) => slug)).toEqual(
      Object.keys(READY)
        .filter(slug => READY[slug] === 'stable')
        .sort(),
    );
    expect(data.platformService).toEqual({ maturity: 'PREVIEW', productionReady: true });
  });
});
