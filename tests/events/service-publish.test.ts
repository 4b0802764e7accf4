import { beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { CATALOGUE } from '../../events/catalogue.js';
import { exampleOf } from '../../events/json-schema.js';
import { DEMO, platform, type Answer, type TestPlatform } from '../support/platform.js';

/** POST /v1/events: for jobs, scripts and processes without the outbox. Source: contracts/events.md, sections 4 and 10. */
let p: TestPlatform;
let operator: string;

beforeAll(async () => {
  p = await platform({ services: ['events'], transport: 'run' });
  operator = await p.serviceToken();
});

const dataOf = (type: string): Record<string, unknown> => (exampleOf(CATALOGUE.get(type)!) as { data: Record<string, unknown> }).data;

const started = (more: object = {}) => ({
  type: 'external_sync.started.v1',
  user_id: null,
  subject: 'partner_sync:orders',
  data: { run_id: v7(), direction: 'pull', entity: 'orders', cursor: null, started_at: '2026-11-20T09:30:00.000Z' },
  ...more,
});
const charged = (more: object = {}) => ({ type: 'payment.charged.v1', user_id: DEMO, data: dataOf('payment.charged.v1'), ...more });

const post = (
  path: string,
  body: unknown,
  { key = v7(), token = operator }: { key?: string | null; token?: string } = {},
): Promise<Answer> => p.rest('POST', `/events/v1/events${path}`, { token, body, headers: { ...(key && { 'idempotency-key': key }) } });
const read = (id: string): Promise<Answer> => p.rest('GET', `/events/v1/events/${id}`, { token: operator });
const countOf = async (type: string): Promise<number> =>
  (await p.sql<{ n: number }>('select count(*)::int as n from events.outbox where type = $1', [type]))[0]!.n;
const pointersOf = ({ body }: Answer): string[] => body.errors.map((one: { pointer: string }) => one.pointer);

describe('an event', () => {
  test('is published once per Idempotency-Key, and relayed within two seconds', async () => {
    const [key, body] = [v7(), started()];
    const first = await post('', body, { key });
    expect(first).toMatchObject({
      status: 201,
      body: { type: body.type, user_id: null, subject: body.subject, source: 'partner', sequence: expect.any(Number), data: body.data },
    });
    expect(first.headers.location).toBe(`/events/v1/events/${first.body.id}`);
    await expect.poll(async () => (await read(first.body.id)).body.published_at, { timeout: 2_000 }).not.toBeNull();
    expect((await read(first.body.id)).body).toMatchObject({ source: 'partner', actor: 'service:demo-m2m', causation_id: null });

    const { data, ...rest } = body;
    const again = await post('', { data: Object.fromEntries(Object.entries(data).reverse()), ...rest }, { key });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(await p.sql(`select id from events.outbox where data->>'run_id' = $1`, [body.data.run_id])).toEqual([{ id: first.body.id }]);
    expect(await post('', started(), { key })).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
  });

  test('needs the key', async () => {
    expect(await post('', started(), { key: null })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ message: expect.stringContaining('Idempotency-Key') }] },
    });
  });

  test('bears the named emitter, the event that it follows from and its type as the subject where none is given', async () => {
    const cause = (await post('', started())).body.id;
    const { body } = await post('', { ...started(), subject: undefined, causation_id: cause });
    expect((await read(body.id)).body).toMatchObject({ subject: 'external_sync.started.v1', causation_id: cause });
    const named = await post('', {
      type: 'subscription.created.v1',
      user_id: DEMO,
      source: 'commerce',
      data: dataOf('subscription.created.v1'),
    });
    expect(named).toMatchObject({ status: 201, body: { source: 'commerce', user_id: DEMO, subject: null } });
  });

  test.each([
    ['its user is missing', () => charged({ user_id: undefined }), ['/user_id']],
    ['its type has no user', () => started({ user_id: DEMO, subject: undefined }), ['/user_id']],
    ['its user is no UUID', () => charged({ user_id: 'somebody' }), ['/user_id']],
    ['it has a user and a subject', () => charged({ subject: 'x' }), ['/subject']],
    ['its subject is too long', () => started({ subject: 'x'.repeat(129) }), ['/subject']],
    ['its type is unknown', () => started({ type: 'no.such.type.v1' }), ['/type']],
    ['its source may not emit it', () => started({ source: 'cash' }), ['/source']],
    ['the event that it follows from is no id', () => started({ causation_id: 'this' }), ['/causation_id']],
    ['its data has a further key', () => started({ data: { ...started().data, foo: 1 } }), ['/data/foo']],
    [
      'its data has several faults',
      () => started({ data: { ...started().data, run_id: 'x', direction: 'up' } }),
      ['/data/run_id', '/data/direction'],
    ],
    ['its data is no object', () => started({ data: 'text' }), ['/data']],
    ['it brings its own id', () => started({ id: v7() }), ['/id']],
    [
      'it brings its own time and sequence',
      () => started({ occurred_at: '2026-11-20T09:30:00.000Z', sequence: 1 }),
      ['/occurred_at', '/sequence'],
    ],
  ])('is refused when %s, and nothing is stored', async (_, body, pointers) => {
    const { type } = body();
    const before = await countOf(type);
    const answer = await post('', body());
    expect([answer.status, answer.body.code, pointersOf(answer)]).toEqual([400, 'invalid_request', pointers]);
    expect(await countOf(type)).toBe(before);
  });

  test('has at most 64 KiB of data', async () => {
    const answer = await post('', started({ data: { ...started().data, cursor: 'x'.repeat(65_536) } }));
    expect([answer.status, answer.body.code]).toEqual([413, 'payload_too_large']);
  });

  test("needs admin:events and the owner's admin scope", async () => {
    const without = await post('', charged(), { token: await p.serviceToken('admin:payments') });
    expect(without).toMatchObject({ status: 403, body: { code: 'insufficient_scope', detail: expect.stringContaining('admin:events') } });
    const foreign = await post('', charged(), { token: await p.serviceToken('admin:events') });
    expect(foreign).toMatchObject({ status: 403, body: { code: 'insufficient_scope', detail: expect.stringContaining('admin:payments') } });
    expect(foreign.headers['www-authenticate']).toContain('admin:payments');
    expect((await post('', charged(), { token: await p.serviceToken('admin:events admin:payments') })).status).toBe(201);
  });

  test('leaves an audit row without its data', async () => {
    const { id } = (await post('', started())).body;
    expect(
      await p.sql(`select actor->>'client_id' as client, details from events.audit_log where action = 'event.published' and target = $1`, [
        id,
      ]),
    ).toEqual([{ client: 'demo-m2m', details: { type: 'external_sync.started.v1', source: 'partner' } }]);
  });
});

describe('a batch', () => {
  test('is published whole, in its order, once per key', async () => {
    const [key, events] = [v7(), [started(), started(), charged()]];
    const { status, body } = await post('/batch', { events }, { key });
    expect([status, body.data.map((one: any) => one.type)]).toEqual([201, events.map(one => one.type)]);
    expect(body.data[0].sequence).toBeLessThan(body.data[1].sequence);
    expect((await post('/batch', { events }, { key })).body).toEqual(body);
  });

  test('with an invalid event is refused with its place, and none is stored', async () => {
    const before = await countOf('external_sync.started.v1');
    const answer = await post('/batch', { events: [started(), started({ data: { ...started().data, entity: 7, foo: 1 } }), started()] });
    expect([answer.status, pointersOf(answer)]).toEqual([400, ['/events/1/data/entity', '/events/1/data/foo']]);
    expect(await countOf('external_sync.started.v1')).toBe(before);
  });

  test.each([[0], [101]])('of %i events is refused', async count => {
    const answer = await post('/batch', { events: Array.from({ length: count }, () => started()) });
    expect([answer.status, pointersOf(answer)]).toEqual([400, ['/events']]);
  });

  test("needs the admin scope of every type's owner", async () => {
    const answer = await post('/batch', { events: [started(), charged()] }, { token: await p.serviceToken('admin:events admin:capri') });
    expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('admin:payments') } });
  });
});
