import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { BRAND, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { workflowCanary } from '../../events/catalogue/workflow.js';
import { until } from '../support/until.js';
import { emitAsOwner } from './foreign-events.js';

let p: TestPlatform;
let staff: string;

const run = (on: TestPlatform, kind = 'bus') =>
  on.serviceToken().then(token => on.rest('POST', '/platform/v1/admin/canaries/run', { token, body: { kind } }));
const probes = async (on: TestPlatform, token: string, query = '') =>
  (await on.rest('GET', `/platform/v1/canaries?${query}`, { token })).body.data;
const incidents = async (on: TestPlatform, slug: string) =>
  (await on.rest('GET', `/platform/v1/health/incidents?service=${slug}`, { token: await on.serviceToken() })).body.data;

describe('over a bus that works', () => {
  beforeAll(async () => {
    p = await platform({ services: ['platform', 'workflow'] });
    staff = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:read'] });
  });

  test('a canary comes back', async () => {
    const { status, headers, body } = await run(p);
    expect([status, headers.location, body.status, body.kind, body.origin]).toEqual([
      202,
      '/platform/v1/canaries',
      'pending',
      'bus',
      'platform',
    ]);
    const [probe] = await until(
      'the canary',
      () => probes(p, staff),
      list => list[0]?.status === 'ok',
    );
    expect(probe).toMatchObject({ id: body.id, received_at: expect.any(String), latency_ms: expect.any(Number) });
    const summary = async () => (await p.rest('GET', '/platform/v1/health', { token: await p.serviceToken() })).body.canaries.bus;
    expect(await until('the summary', summary, one => one.status !== null)).toMatchObject({ status: 'ok', in_time: 1 });
  });

  test("a workflow's canary is the workflow service's to send", async () => {
    expect(await run(p, 'workflow')).toMatchObject({ status: 409, body: { reason: 'sent_by_workflow' } });
    expect((await run(p, 'pigeon')).status).toBe(400);
  });

  test('a canary through a workflow is late after 30 s, and its silence of 5 minutes is an incident until the next', async () => {
    const send = async (ageMs: number) => {
      const now = (await p.host('platform').read(async ctx => ctx.now())).getTime();
      const id = randomUUID();
      const sent_at = new Date(now - ageMs).toISOString();
      await emitAsOwner(p, workflowCanary, { probe_id: id, run_id: BRAND, sent_at }, { subject: `run:${BRAND}` });
      return id;
    };
    const statusOf = async (id: string) =>
      (await probes(p, staff, 'kind=workflow&limit=100')).find((one: { id: string }) => one.id === id)?.status;
    const late = await send(31_000);
    await until(
      'the late one',
      () => statusOf(late),
      status => status === 'late',
    );
    const intime = await send(1_000);
    await until(
      'the one in time',
      () => statusOf(intime),
      status => status === 'ok',
    );
    await p.clock('platform', { advance: 'PT6M' });
    expect(await incidents(p, 'workflow')).toMatchObject([{ cause: 'canary', ended_at: null }]);
    expect(await probes(p, staff, 'kind=workflow&status=lost')).toHaveLength(1);
    await p.clock('platform', { advance: 'PT30M' });
    expect(await incidents(p, 'workflow')).toHaveLength(1);
    const next = await send(0);
    await until(
      'the next',
      () => statusOf(next),
      status => status === 'ok',
    );
    expect((await incidents(p, 'workflow'))[0].ended_at).not.toBeNull();
  });
});

test('canaries are sent by themselves, as often as is set', async () => {
  const q = await platform({ services: ['platform', 'workflow'], env: { PLATFORM_CANARY_MS: '100' } });
  const reader = await q.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:read'] });
  const list = await until(
    'three canaries to come back',
    () => probes(q, reader, 'kind=bus&status=ok'),
    found => found.length >= 3,
  );
  expect(new Set(list.map((one: { origin: string }) => one.origin))).toEqual(new Set(['platform']));
});

describe('over a bus that stands still', () => {
  test('a canary is lost after 60 s, an incident on events, which the next that comes back ends', async () => {
    const q = await platform({ services: ['platform', 'workflow'], env: { ROLES: 'subgraphs,gateway,rest,consumers,scheduler' } });
    const reader = await q.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:read'] });
    await run(q);
    await q.clock('platform', { advance: 'PT59S' });
    expect(await probes(q, reader)).toMatchObject([{ status: 'pending' }]);
    await q.clock('platform', { advance: 'PT2S' });
    expect(await probes(q, reader)).toMatchObject([{ status: 'lost', received_at: null }]);
    expect(await incidents(q, 'events')).toMatchObject([{ service: 'events', cause: 'canary', ended_at: null, worst: 'down' }]);
  });
});
