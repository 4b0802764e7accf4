import { execFileSync } from 'node:child_process';
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { expect } from 'vitest';
import { BRAND, DEMO, type Answer, type RestOptions } from '../support/platform.js';
import type { Received, Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

/** What the journey needs of a platform, in one process or in many. */
export interface JourneyPlatform {
  rest(method: string, path: string, options?: RestOptions): Promise<Answer>;
  graphql(query: string, variables?: object, options?: { token?: string | null }): Promise<Answer & { data: any; errors: any[] }>;
  serviceToken(scope?: string): Promise<string>;
  clock(slug: 'clinical', move: { now: string } | { advance: string }): Promise<void>;
  flag(slug: 'clinical', key: string, value: boolean | null): Promise<void>;
  sql<Row = any>(text: string, params?: unknown[]): Promise<Row[]>;
  receiver(): Promise<Receiver>;
}

/** The sweep's grid has a slot at 06:00 UTC, so a cycle whose baseline was drawn then is prompted exactly 90 days later. */
const T0 = '2026-08-01T06:00:00.000Z';
const RETEST_EVENTS = ['clinical.retest.cycle_started.v1', 'clinical.retest.prompted.v1', 'clinical.retest.recorded.v1'];

/** Body of a re-test cycle of the demo user. */
export const cycleInput = (drawId: string) => ({
  patient_id: DEMO,
  code: 'ldl_c',
  baseline: { draw_id: drawId, collected_at: T0, value: 160, unit: 'mg/dL', performer: 'lab_a' },
  intervention: { kind: 'protocol', key: 'lipid_reset' },
  brand_id: BRAND,
});

/** The signature over the raw bytes, by node:crypto and by openssl. */
function verifySignature({ headers, raw }: Received, secret: string): void {
  const sent = String(headers['x-platform-signature']);
  const ours = createHmac('sha256', secret).update(raw).digest('hex');
  expect(timingSafeEqual(Buffer.from(sent), Buffer.from(ours))).toBe(true);
  const openssl = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-r'], { input: raw, encoding: 'utf8' }).split(' ')[0];
  expect(openssl).toBe(sent);
}

const JOIN = `query Join($id: ID!) {
  retestCycle(id: $id) { id status outcomeDirection brand { id slug name } patient { id profile { displayName } } }
}`;

/** From a dark feature to a signed webhook and one query over three services. */
export async function retestCycleJourney(p: JourneyPlatform): Promise<void> {
  const token = await p.serviceToken();
  const call = (method: string, path: string, body?: unknown) => p.rest(method, path, { token, body });
  const receiver = await p.receiver();
  const drawId = randomUUID();

  const dark = await call('POST', '/clinical/v1/retest-cycles', cycleInput(drawId));
  expect(dark).toMatchObject({ status: 403, body: { code: 'forbidden' } });

  await p.clock('clinical', { now: T0 });
  await p.flag('clinical', 'feature.clinical.retest-cycle', true);
  await p.flag('clinical', 'feature.clinical.retest-prompt', true);
  const subscription = await call('POST', '/webhooks/v1/webhook-subscriptions', {
    client_id: 'demo-app',
    name: 'Outcomes',
    url: receiver.url,
    event_types: [...RETEST_EVENTS].sort(),
  });
  expect(subscription.status).toBe(201);

  const intervention = await call('POST', '/clinical/v1/protocols', {
    user_id: DEMO,
    kind: 'protocol',
    key: 'lipid_reset',
    started_on: '2026-08-01',
    time_zone: 'UTC',
  });
  expect(intervention.status).toBe(201);
  const created = await call('POST', '/clinical/v1/retest-cycles', cycleInput(drawId));
  expect(created).toMatchObject({
    status: 201,
    body: { status: 'baseline_set', retest_due_at: '2026-10-30T06:00:00.000Z', prompt_count: 0 },
  });
  const repeated = await call('POST', '/clinical/v1/retest-cycles', cycleInput(drawId));
  expect(repeated).toMatchObject({ status: 200, body: { id: created.body.id } });

  for (let month = 0; month < 3; month++) await p.clock('clinical', { advance: 'P30D' }); // some 600 slots of timers; a call has 25 s
  const cyclePath = `/clinical/v1/retest-cycles/${created.body.id}`;
  expect((await call('GET', cyclePath)).body).toMatchObject({ status: 'prompted', prompt_count: 1 });
  await p.clock('clinical', { advance: 'P5D' });
  const followUp = await call('POST', '/clinical/v1/biomarkers', {
    user_id: DEMO,
    observations: [
      {
        code: '13457-7',
        value: 110,
        unit: 'mg/dL',
        collected_at: '2026-11-04T06:00:00.000Z',
        draw_id: randomUUID(),
        source: 'lab',
        performer: 'lab_a',
        source_ref: `lab_a:${drawId}`,
        status: 'final',
      },
    ],
  });
  expect(followUp.status).toBe(201);
  const closed = await until(
    'the cycle to close',
    () => call('GET', cyclePath),
    answer => answer.body.status === 'retested',
  );
  expect(closed.body).toMatchObject({ outcome_direction: 'improved', delta: -50, days_to_retest: 95, prompt_count: 1 });

  await checkWebhooks(receiver, subscription.body.signing_secret);
  const stats = await call('GET', '/clinical/v1/retest-cycles/stats');
  expect(stats).toMatchObject({
    status: 200,
    body: { retest_rate: 1, counts: { baseline_set: 0, prompted: 0, retested: 1, expired: 0 }, closed: 1 },
  });

  const joined = await p.graphql(JOIN, { id: created.body.id }, { token });
  expect(joined.errors).toEqual([]);
  expect(joined.data.retestCycle).toMatchObject({
    status: 'RETESTED',
    outcomeDirection: 'IMPROVED',
    brand: { id: BRAND },
    patient: { id: DEMO },
  });
  await checkNoHealthValue(p);
}

async function checkWebhooks(receiver: Receiver, secret: string): Promise<void> {
  const all = await receiver.until(received => received.length >= 3, 30_000);
  expect(all.map(one => one.body.type)).toEqual(RETEST_EVENTS);
  for (const one of all) {
    verifySignature(one, secret);
    expect(one.body).toMatchObject({ user_id: DEMO, client_id: 'demo-app', id: one.headers['x-platform-event-id'] });
    expect(one.headers).toMatchObject({ 'x-platform-event-type': one.body.type, 'x-platform-delivery-attempt': '1' });
    expectNoHealthValue(one.raw.toString('utf8'));
  }
}

/** The values of this journey, as a JSON number or with their unit; no payload holds a figure like them by chance. */
const expectNoHealthValue = (text: string): void => expect(text).not.toMatch(/mg\/dL|:\s*"?-?(160|110|50)(\.0+)?"?\s*[,}]/);

async function checkNoHealthValue(p: JourneyPlatform): Promise<void> {
  const events = await p.sql<{ data: string }>('select data::text as data from events.outbox');
  expect(events.length).toBeGreaterThan(3);
  events.forEach(({ data }) => expectNoHealthValue(data));
  for (const schema of ['clinical', 'webhooks', 'identity', 'platform', 'entitlements', 'events']) {
    const rows = await p.sql<{ details: string }>(`select details::text as details from ${schema}.audit_log`);
    rows.forEach(({ details }) => expectNoHealthValue(details));
  }
}
