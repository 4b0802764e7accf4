import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { idsIn, inboundSignature, isTimely, textAt } from '../../subgraphs/webhooks/rules/inbound.js';
import { ADMIN, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { call, callAs, emit, machineClient } from './fixture.js';

let p: TestPlatform;

beforeAll(async () => {
  p = await platform({
    services: ['webhooks', 'clinical'],
    transport: 'run',
    env: {
      WEBHOOKS_INBOUND_SECRET_STOREFRONT: 'new-storefront-secret,old-storefront-secret',
      WEBHOOKS_INBOUND_SECRET_CRM_SYNC: 'crm-secret',
    },
  });
});

const path = '/v1/inbound';
const post = (source: string, body: string, headers: Record<string, string>) =>
  p.rest('POST', `/webhooks${path}/${source}`, { body, headers: { 'content-type': 'application/json', ...headers } });

let count = 0;
const ORDER = () => JSON.stringify({ id: 41277, customer: DEMO, number: ++count });

/** A call of the storefront. */
function storefront(body: string, more: { secret?: string; delivery?: string; headers?: Record<string, string> } = {}) {
  const { secret = 'new-storefront-secret', delivery = `evt_${count}`, headers = {} } = more;
  const signature = createHmac('sha256', secret).update(body).digest('base64');
  return post('storefront', body, {
    'X-Storefront-Signature': signature,
    'X-Storefront-Delivery': delivery,
    'X-Storefront-Topic': 'orders/create',
    ...headers,
  });
}

function crm(body: string, at: number, headers: Record<string, string> = {}) {
  const signature = createHmac('sha256', 'crm-secret').update(`${at}.${body}`).digest('hex');
  return post('crm_sync', body, {
    'X-Signature': signature,
    'X-Timestamp': String(at),
    'X-Delivery-Id': `crm_${++count}`,
    'X-Topic': 'contact.changed',
    ...headers,
  });
}

const emitted = (receiptId: string): Promise<any[]> =>
  p.sql(
    `select id, data, subject from events.outbox where type = 'webhook.received.v1' and data::jsonb ->> 'receipt_id' = $1 order by seq`,
    [receiptId],
  );
const seconds = (): number => Math.floor(Date.now() / 1000);

describe('POST /v1/inbound/{source}', () => {
  test('stores a genuine call and emits webhook.received.v1; the same vendor event again answers the same receipt and emits nothing', async () => {
    const body = ORDER();
    const first = await storefront(body, { delivery: 'evt_same' });
    expect(first).toMatchObject({ status: 200, body: { receipt_id: expect.any(String) } });
    const again = await storefront(body, { delivery: 'evt_same' });
    expect(again.body).toEqual(first.body);
    const events = await emitted(first.body.receipt_id);
    expect(events).toHaveLength(1);
    const data = typeof events[0].data === 'string' ? JSON.parse(events[0].data) : events[0].data;
    expect(data).toEqual({
      receipt_id: first.body.receipt_id,
      source: 'storefront',
      topic: 'orders/create',
      vendor_event_id: 'evt_same',
      external_id: '41277',
      received_at: expect.any(String),
    });
    const twice = await Promise.all([1, 2, 3].map(() => storefront(body, { delivery: 'evt_at_once' })));
    expect(new Set(twice.map(one => one.body.receipt_id)).size).toBe(1);
    expect(await emitted(twice[0]!.body.receipt_id)).toHaveLength(1);
  });

  test('takes both secrets of a rotation, and no other', async () => {
    expect((await storefront(ORDER(), { secret: 'old-storefront-secret' })).status).toBe(200);
    expect((await storefront(ORDER(), { secret: 'another' })).status).toBe(401);
  });

  test('compares every character of a signature, and its length', async () => {
    const body = ORDER();
    const right = createHmac('sha256', 'new-storefront-secret').update(body).digest('base64');
    const another = (char: string): string => (char === 'A' ? 'B' : 'A');
    const spoilt = [0, 11, 12, 13, 30, 42].map(at => right.slice(0, at) + another(right[at]!) + right.slice(at + 1));
    for (const signature of [...spoilt, right.slice(0, 12), right.slice(0, -1), `${right}A`, right.repeat(2)])
      expect((await storefront(body, { headers: { 'X-Storefront-Signature': signature } })).status).toBe(401);
    expect((await storefront(body, { headers: { 'X-Storefront-Signature': right } })).status).toBe(200);
    const at = seconds();
    const hex = createHmac('sha256', 'crm-secret').update(`${at}.{"id":"c-1"}`).digest('hex');
    for (const place of [0, 12, 40, 63]) {
      const wrong = hex.slice(0, place) + (hex[place] === '0' ? '1' : '0') + hex.slice(place + 1);
      expect((await crm('{"id":"c-1"}', at, { 'X-Signature': wrong })).status).toBe(401);
    }
  });

  test('judges the time of a call that has one: 300 s either way', async () => {
    expect((await crm('{"id":"c-1"}', seconds())).status).toBe(200);
    expect((await crm('{"id":"c-1"}', seconds() - 290)).status).toBe(200);
    expect((await crm('{"id":"c-1"}', seconds() - 310)).status).toBe(401);
    expect((await crm('{"id":"c-1"}', seconds() + 310)).status).toBe(401);
    expect((await crm('{"id":"c-1"}', seconds(), { 'X-Timestamp': String(seconds() - 1) })).status).toBe(401);
  });

  test('refuses: unknown source 404, no or a wrong signature 401, no secret configured 401, not JSON 400, no delivery id 400, more than 1 MiB 413', async () => {
    expect((await post('nobody', '{}', {})).status).toBe(404);
    expect((await post('storefront', '{}', {})).status).toBe(401);
    expect((await storefront(ORDER(), { headers: { 'X-Storefront-Signature': 'x' } })).status).toBe(401);
    expect(
      (
        await post('cms', '{}', {
          'X-Signature': createHmac('sha256', '').update(`${seconds()}.{}`).digest('hex'),
          'X-Timestamp': String(seconds()),
        })
      ).status,
    ).toBe(401);
    expect((await storefront('not json')).status).toBe(400);
    const missing = await storefront(ORDER(), { delivery: '', headers: { 'X-Storefront-Topic': '' } });
    expect(missing).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(missing.body.errors).toHaveLength(2);
    expect((await storefront(JSON.stringify({ id: 1, text: 'x'.repeat(1_048_576) }))).status).toBe(413);
    expect((await p.rest('GET', `/webhooks${path}/storefront`)).status).toBe(405);
  });
});

describe('receipts', () => {
  test('are listed, filtered and read; the body only by those who may read the data of its owner, audited', async () => {
    const body = ORDER();
    const { receipt_id: id } = (await storefront(body)).body;
    const list = async (filter: string) => (await call(p, 'GET', `/v1/inbound-receipts?${filter}`)).body.data.map((one: any) => one.id);
    expect(await list('source=storefront&limit=1')).toEqual([id]);
    expect(await list('topic=orders/create&external_id=41277')).toContain(id);
    expect(await list('source=cms')).toEqual([]);
    expect(await list('to=2020-01-01T00:00:00.000Z')).toEqual([]);
    const read = async (token: string) => (await callAs(p, token, 'GET', `/v1/inbound-receipts/${id}`)).body;
    expect(await read(await p.serviceToken())).toMatchObject({
      id,
      source: 'storefront',
      status: 'accepted',
      body: JSON.parse(body),
      body_size: body.length,
    });
    expect((await read(await p.serviceToken('admin:webhooks'))).body).toBeNull();
    const staff = await p.userToken(ADMIN, [], {
      clientId: 'demo-admin',
      permissions: ['admin:webhooks:read', 'admin:commerce:read'],
      roles: ['developer'],
    } as never);
    expect((await read(staff)).body).toEqual(JSON.parse(body));
    const audits = await p.sql(`select 1 from webhooks.audit_log where action = 'inbound_receipt.body_read' and target = $1`, [id]);
    expect(audits).toHaveLength(2);
    const [stored] = await p.sql('select t::text as text from webhooks.inbound_receipt t where id = $1', [id]);
    expect(stored.text).not.toContain(DEMO);
    const portal = await machineClient(p, 'inbound-portal');
    await call(p, 'PUT', '/v1/webhook-managers/inbound-portal', { client_ids: ['demo-app'] });
    for (const [method, one] of [
      ['GET', '/v1/inbound-receipts'],
      ['GET', `/v1/inbound-receipts/${id}`],
      ['GET', '/v1/inbound-sources'],
      ['POST', `/v1/inbound-receipts/${id}/replay`],
    ] as const)
      expect([one, (await callAs(p, portal, method, one)).status]).toEqual([one, 403]);
    expect((await call(p, 'GET', `/v1/inbound-receipts/${DEMO}`)).status).toBe(404);
  });

  test('are replayed: the event again with the same receipt and a new id', async () => {
    const { receipt_id: id } = (await storefront(ORDER())).body;
    const answer = await call(p, 'POST', `/v1/inbound-receipts/${id}/replay`);
    expect(answer).toMatchObject({ status: 202, body: { id, status: 'replayed' } });
    const events = await emitted(id);
    expect(events).toHaveLength(2);
    expect(answer.body.emitted_event_id).toBe(events[1].id);
    expect((await call(p, 'POST', `/v1/inbound-receipts/${DEMO}/replay`)).status).toBe(404);
  });

  test('lose their body with the erasure of a user whose id stands in it', async () => {
    const user = crypto.randomUUID();
    const { receipt_id: id } = (await storefront(JSON.stringify({ id: 1, customer: user.toUpperCase() }), { delivery: `erase_${user}` }))
      .body;
    const request = {
      request_id: crypto.randomUUID(),
      scope: 'full' as const,
      requested_at: '2026-11-20T09:30:00.000Z',
      due_at: '2026-12-20T09:30:00.000Z',
    };
    await emit(p, userErasureRequested, request, user);
    await until(
      'the erasure',
      async () => (await call(p, 'GET', `/v1/inbound-receipts/${id}`)).body.body,
      body => body === null,
    );
    expect((await call(p, 'GET', `/v1/inbound-receipts/${id}`)).body).toMatchObject({ id, topic: 'orders/create' });
  });
});

test('the sources say how they sign, when they were last heard of, what was refused, and hints of their secrets', async () => {
  const { data } = (await call(p, 'GET', '/v1/inbound-sources')).body;
  expect(data.map((one: any) => one.name)).toEqual(['storefront', 'crm_sync', 'cms']);
  expect(data[0]).toMatchObject({
    scheme: 'base64_body',
    header_names: ['X-Storefront-Signature', 'X-Storefront-Delivery', 'X-Storefront-Topic'],
    tolerance_seconds: null,
    last_received_at: expect.any(String),
    secrets: ['cret', 'cret'],
  });
  expect(data[0].rejected24h).toBeGreaterThan(0);
  expect(data[1]).toMatchObject({ scheme: 'hex_timestamp_body', tolerance_seconds: 300 });
  expect(data[2]).toMatchObject({ last_received_at: null, secrets: [] });
});

describe('rules', () => {
  test.each([
    ['/id', { id: 5 }, '5'],
    ['/id', { id: 'a' }, 'a'],
    ['/a/b~1c', { a: { 'b/c': 'x' } }, 'x'],
    ['/a/0', { a: ['y'] }, 'y'],
    ['/id', {}, null],
    ['/id', null, null],
    ['/id', { id: 1.5 }, null],
    ['/__proto__/x', {}, null],
  ])('%s of %j is %s', (pointer, body, expected) => expect(textAt(body, pointer)).toBe(expected));

  test('the time of a call', () => {
    expect([isTimely('100', 300, 400_000), isTimely('100', 300, 401_000), isTimely('x', 300, 0), isTimely('', null, 0)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  test('signatures and ids', () => {
    expect(inboundSignature('base64_body', 's', Buffer.from('b'), '')).toBe(createHmac('sha256', 's').update('b').digest('base64'));
    expect(idsIn(`x${DEMO.toUpperCase()} ${DEMO}`)).toEqual([DEMO]);
  });
});
