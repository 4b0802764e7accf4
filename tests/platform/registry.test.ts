import { beforeAll, describe, expect, test } from 'vitest';
import { SLUGS } from '../../events/slugs.js';
import { DEMO, sharedPlatform, type SharedPlatform } from '../support/platform.js';

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

let p: SharedPlatform;
let user: string;

beforeAll(async () => {
  p = await sharedPlatform();
  user = await p.userToken(DEMO, ['read:profile']);
});

const list = (query = '') => p.rest('GET', `/platform/v1/services${query}`, { token: user });
const slugsOf = ({ body }: { body: { data: { slug: string }[] } }) => body.data.map(({ slug }) => slug).sort();

describe('the registry', () => {
  test('has the 28 services with the maturity and readiness of the specification', async () => {
    const { status, body } = await list();
    expect([status, body.data.length]).toEqual([200, 28]);
    const shown = body.data.map(({ slug, maturity, production_ready, critical }: any) => [slug, maturity, production_ready, critical]);
    const expected = [...SLUGS]
      .sort()
      .map(slug => [
        slug,
        READY[slug] ?? NOT_READY[slug] ?? null,
        slug in READY ? true : slug in NOT_READY ? false : null,
        CRITICAL.includes(slug),
      ]);
    expect(shown).toEqual(expected);
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
      openapi_url: null,
      last_deployed_version: null,
      uptime: 1,
      health: {
        status: 'unknown',
        checked_at: null,
        latency_ms: null,
        consecutive_failures: 0,
        since: null,
        checks: null,
        last_seen: null,
      },
    });
  });

  test('tells services and staff where it is and what it checks, too', async () => {
    const staff = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:read'] });
    await p.rest('PATCH', '/platform/v1/admin/services/cash', {
      token: await p.serviceToken(),
      body: { base_url: 'https://cash.example/' },
    });
    for (const token of [staff, await p.internalToken('jobs')]) {
      const { body } = await p.rest('GET', '/platform/v1/services/cash', { token });
      expect([body.base_url, body.health.checks, body.health.last_seen]).toEqual(['https://cash.example/', [], {}]);
    }
    await p.rest('PATCH', '/platform/v1/admin/services/cash', { token: await p.serviceToken(), body: { base_url: null } });
  });

  test('is changed by merge patch, by those who may', async () => {
    const patch = async (body: object, token?: string) =>
      p.rest('PATCH', '/platform/v1/admin/services/labs', { token: token ?? (await p.serviceToken()), body });
    expect(await patch({ maturity: 'preview', production_ready: false, last_deployed_version: '1.2.0' })).toMatchObject({
      status: 200,
      body: { maturity: 'preview', production_ready: false, last_deployed_version: '1.2.0', critical: false },
    });
    expect((await patch({ maturity: null, production_ready: null, last_deployed_version: null })).body.maturity).toBeNull();
    const wrong = await patch({
      critical: null,
      base_url: 'http://10.0.0.1/',
      openapi_url: 'https://user:secret@labs.example/openapi.json',
    });
    expect([wrong.status, wrong.body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
      400,
      ['/critical', '/base_url', '/openapi_url'],
    ]);
    for (const address of ['https://10.0.0.1/', 'https://169.254.169.254/', 'https://labs.internal:8443/', 'ftp://127.0.0.1/'])
      expect([address, (await patch({ base_url: address })).status]).toEqual([address, 400]);
    expect((await patch({}, await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:services'] }))).status).toBe(200);
    expect((await p.rest('PATCH', '/platform/v1/admin/services/nope', { token: await p.serviceToken(), body: {} })).status).toBe(404);
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
