import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BRAND, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { collectionChanged } from '../../events/catalogue/content.js';
import { userCreated } from '../../events/catalogue/identity.js';
import { webhookReceived } from '../../events/catalogue/webhooks.js';
import { until } from '../support/until.js';
import { emitAsOwner } from './foreign-events.js';

/** A service that is as ready as the test says. */
let ready = true;
let fake: Server;
let p: TestPlatform;
let service: string;

beforeAll(async () => {
  fake = createServer((_request, response) => {
    response.writeHead(ready ? 200 : 503, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'x', checks: { database: ready ? 'ok' : 'failing' } }));
  });
  await new Promise<void>(resolve => fake.listen(0, '127.0.0.1', resolve));
  p = await platform({ env: { PLATFORM_HEALTH_POLL_MS: '150' } });
  service = await p.serviceToken();
});
afterAll(() => fake?.close());

const read = async (slug: string) => (await p.rest('GET', `/platform/v1/services/${slug}`, { token: service })).body;
const suite = async () => (await p.rest('GET', '/platform/v1/health', { token: service })).body;
const incidents = async (slug: string) =>
  (await p.rest('GET', `/platform/v1/health/incidents?service=${slug}`, { token: service })).body.data;
const move = (slug: string, baseUrl: string | null) =>
  p.rest('PATCH', `/platform/v1/admin/services/${slug}`, { token: service, body: { base_url: baseUrl } });
const address = () => `http://127.0.0.1:${(fake.address() as AddressInfo).port}/`;
const statusIs = (slug: string, status: string) =>
  until(
    `${slug} to be ${status}`,
    () => read(slug),
    ({ health }) => health.status === status,
  );

describe('a service of this suite', () => {
  test('is found up by the polls, with its checks', async () => {
    const { health, uptime } = await statusIs('identity', 'up');
    expect(health).toMatchObject({ consecutive_failures: 0, checks: expect.arrayContaining([{ name: 'database', status: 'ok' }]) });
    expect(uptime).toBe(1);
  });

  test('that was never deployed is unknown, not down', async () => {
    await statusIs('platform', 'up');
    expect((await read('follows')).health).toMatchObject({ status: 'unknown', checked_at: null });
  });
});

describe.each([
  ['payments', 'fail'],
  ['follows', 'warn'],
])('when %s does not answer', (slug, verdict) => {
  test(`three times, it is down with one incident, and the suite says ${verdict}; two answers bring it back`, async () => {
    ready = true;
    expect((await move(slug, address())).status).toBe(200);
    await statusIs(slug, 'up');
    ready = false;
    const down = await statusIs(slug, 'down');
    expect(down.health.consecutive_failures).toBeGreaterThanOrEqual(3);
    await until('the verdict', suite, ({ status }) => status === verdict);
    expect(await incidents(slug)).toMatchObject([{ service: slug, cause: 'health', ended_at: null, worst: 'down' }]);
    const staff = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:read'] });
    const { data } = await p.graphql(
      `{ platformService(slug: "${slug}") { uptime(days: 1) incidents(first: 1) { endedAt } } }`,
      {},
      { token: staff },
    );
    expect([data.platformService.uptime < 1, data.platformService.incidents]).toEqual([true, [{ endedAt: null }]]);
    ready = true;
    await statusIs(slug, 'up');
    const [ended, ...others] = await incidents(slug);
    expect([others, typeof ended.ended_at]).toEqual([[], 'string']);
    await until('the verdict', suite, ({ status }) => status !== verdict);
    await move(slug, null);
  });
});

describe('the verdict', () => {
  test('has all services, the canaries and its time, and is filtered by nobody', async () => {
    const body = await suite();
    expect([body.services.length, Object.keys(body)]).toEqual([28, ['status', 'services', 'canaries', 'checked_at']]);
    expect(body.canaries).toEqual({
      bus: { status: null, sent_at: null, latency_ms: null, in_time: null },
      workflow: expect.toSatisfy(one => one.status === null || one.status === 'ok'), // the workflow service sends it by its own schedule
    });
    expect((await p.rest('GET', '/platform/v1/health', { token: await p.userToken(DEMO, ['read:profile']) })).status).toBe(403);
  });

  test('is answered from memory', async () => {
    const { checked_at: first } = await suite();
    expect((await suite()).checked_at).toBe(first);
  });

  test('stands in one federated query beside flags and maturity', async () => {
    const { data } = await p.graphql(
      'query Ops { suiteHealth { status services { slug maturity productionReady health { status latencyMs } uptime(days: 30) } } featureFlags(protected: true) { key enabled killed revision } }',
      {},
      { token: service },
    );
    expect([data.suiteHealth.services.length, data.featureFlags.length]).toEqual([28, 3]);
  });

  test('lists services by their health', async () => {
    const slugs = async (health: string) =>
      (await p.rest('GET', `/platform/v1/services?health=${health}`, { token: service })).body.data.map(
        ({ slug }: { slug: string }) => slug,
      );
    await statusIs('clinical', 'up');
    expect(await slugs('up')).toContain('clinical');
    expect(await slugs('down')).not.toContain('clinical');
  });
});

test('a brand counts its new users per day, and an event of a service is a sign of it', async () => {
  const joined = { source: 'signup', locale: null, country_code: null } as const;
  await emitAsOwner(p, userCreated, joined, { userId: DEMO, brandId: BRAND });
  await emitAsOwner(p, userCreated, joined, { userId: DEMO, brandId: BRAND });
  const receipt = {
    receipt_id: BRAND,
    source: 'cms' as const,
    topic: 'x',
    vendor_event_id: 'evt',
    external_id: null,
    received_at: '2026-11-20T09:30:00.000Z',
  };
  await emitAsOwner(p, webhookReceived, receipt, { subject: 'receipt' });
  await until(
    'the count',
    () => p.sql('select users from platform.brand_user_count where brand_id = $1', [BRAND]),
    rows => rows[0]?.users === 2,
  );
  const sign = () => p.rest('GET', '/platform/v1/services/webhooks', { token: service });
  await until('the sign', sign, ({ body }) => typeof body.health.last_seen['webhook.received.v1'] === 'string');
});

test('a policy that changes gives its brand another legal version and tells its caches', async () => {
  const version = async () => (await p.rest('GET', '/platform/v1/brands/main', { token: service })).body.legal_version;
  const before = await version();
  const change = { item_ids: [BRAND], change: 'published' as const, locale: null, version: 1 };
  await emitAsOwner(p, collectionChanged, { ...change, collection: 'faqs' }, { subject: 'faqs', brandId: BRAND });
  await emitAsOwner(p, collectionChanged, { ...change, collection: 'policies' }, { subject: 'policies', brandId: BRAND });
  await until('the version', version, value => value === before + 1);
  const [event] = await p.sql(
    `select data from events.outbox where type = 'platform.brand.cache_invalidated.v1' order by seq desc limit 1`,
  );
  expect(event.data).toMatchObject({ brand_id: BRAND, keys: ['legal'] });
});
