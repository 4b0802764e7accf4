import { createRemoteJWKSet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { move } from '../../runtime/request/states.js';
import { SERVICES } from '../../subgraphs/services.js';
import { ERASURE_STATES, type ErasureState, type ErasureTrigger } from '../../subgraphs/identity/rules/erasure.js';

let p: TestPlatform;
let service: string;
let staff: string;
beforeAll(async () => {
  p = await platform();
  service = await p.serviceToken('admin:identity');
  staff = await p.userToken(ADMIN, ['read:account'], {
    clientId: 'demo-admin',
    roles: ['privacy_officer'],
    permissions: ['admin:identity:erasure'],
    amr: ['pwd', 'mfa'],
  });
});

const call = (method: string, path: string, body: unknown, token: string | null) =>
  p.rest(method, `/identity/v1/erasure-requests${path}`, { token, body });
const events = async (type: string, id: string) =>
  (await p.sql("select data from events.outbox where type = $1 and data->>'request_id' = $2", [type, id])).map(row => row.data);
const patch = (id: string, body: unknown, token = staff) => call('PATCH', `/${id}`, body, token);
const read = async (id: string) => (await call('GET', `/${id}`, undefined, service)).body;

test('moves by its table in every state and by nothing else', () => {
  const next = (state: ErasureState, trigger: ErasureTrigger): string => {
    try {
      return move(ERASURE_STATES, 'erasure request', state, trigger);
    } catch {
      return '-';
    }
  };
  const triggers: ErasureTrigger[] = ['cancel', 'reject', 'hold', 'release', 'start', 'complete', 'lapse'];
  const table = Object.fromEntries(
    (Object.keys(ERASURE_STATES) as ErasureState[]).map(state => [state, triggers.map(one => next(state, one))]),
  );
  expect(table).toEqual({
    scheduled: ['cancelled', 'rejected', 'on_hold', '-', 'in_progress', '-', '-'],
    on_hold: ['-', 'rejected', '-', 'scheduled', '-', '-', '-'],
    in_progress: ['-', '-', '-', '-', '-', 'completed', 'partial'],
    partial: ['-', '-', '-', '-', '-', 'completed', '-'],
    completed: ['-', '-', '-', '-', '-', '-', '-'],
    cancelled: ['-', '-', '-', '-', '-', '-', '-'],
    rejected: ['-', '-', '-', '-', '-', '-', '-'],
  });
});

describe('a request', () => {
  test('about the last active owner is refused, for nobody would be in charge; the rest of the data may go', async () => {
    const refused = await call('POST', '', { user_id: ADMIN, immediate: true }, service);
    expect([refused.status, refused.body.reason]).toEqual([409, 'last_owner']);
    const own = await p.userToken(ADMIN, ['read:account']);
    expect((await call('POST', '', {}, own)).body.reason).toBe('last_owner');
    const marketing = await call('POST', '', { user_id: ADMIN, scope: 'marketing' }, service);
    expect(marketing.status).toBe(201);
    expect((await patch(marketing.body.id, { status: 'cancelled' })).status).toBe(200);
  });

  test('by the user waits 72 hours, one at a time, and can be cancelled', async () => {
    const own = await p.userToken(DEMO, ['read:account']);
    const made = await call('POST', '', { reason: 'moving on' }, own);
    expect([made.status, made.body]).toEqual([
      201,
      expect.objectContaining({ user_id: DEMO, scope: 'full', status: 'scheduled', origin: 'user', tasks: [], receipt: null }),
    ]);
    expect(Date.parse(made.body.scheduled_for) - Date.parse(made.body.created_at)).toBe(72 * 3_600_000);
    expect(Date.parse(made.body.due_by) - Date.parse(made.body.created_at)).toBe(30 * 86_400_000);
    expect((await call('POST', '', {}, own)).body).toMatchObject({ code: 'conflict', reason: 'erasure_open' });
    const notices = await p.sql("select data from events.outbox where type = 'comms.message.send_requested.v1' and user_id = $1", [DEMO]);
    expect(notices.map(row => row.data.params.kind)).toEqual(['erasure_scheduled']);
    expect((await patch(made.body.id, { status: 'in_progress' }, own)).body.code).toBe('forbidden');
    expect((await patch(made.body.id, { status: 'cancelled' }, await p.userToken(DEMO2, ['read:account']))).status).toBe(404);
    expect((await call('GET', `/${made.body.id}`, undefined, await p.userToken(DEMO2, ['read:account']))).status).toBe(404);
    expect((await patch(made.body.id, { status: 'cancelled' }, own)).body.status).toBe('cancelled');
    expect((await patch(made.body.id, { status: 'cancelled' }, own)).body.code).toBe('conflict');
    const receipt = await p.rest('GET', new URL(made.body.receipt_url).pathname);
    expect([receipt.status, receipt.body]).toEqual([
      200,
      { status: 'cancelled', scheduled_for: made.body.scheduled_for, completed_at: null, receipt: null },
    ]);
    expect((await p.rest('GET', `${new URL(made.body.receipt_url).pathname}x`)).status).toBe(404);
  });

  test('needs a recent sign-in and an app of the operator; only services and staff skip the wait', async () => {
    const old = await p.userToken(DEMO, ['read:account'], { authTime: new Date(Date.now() - 660_000) });
    expect((await call('POST', '', {}, old)).body.code).toBe('step_up_required');
    expect((await call('POST', '', {}, await p.userToken(DEMO, ['read:account'], { clientId: 'demo-partner-app' }))).body.code).toBe(
      'forbidden',
    );
    const own = await p.userToken(DEMO, ['read:account']);
    expect((await call('POST', '', { immediate: true }, own)).body.errors).toEqual([
      { pointer: '/immediate', message: 'is for services and staff' },
    ]);
    expect((await call('POST', '', { user_id: DEMO2 }, own)).status).toBe(404);
    expect((await call('POST', '', {}, service)).body.errors[0].pointer).toBe('/user_id');
    expect((await call('POST', '', { user_id: DEMO }, await p.serviceToken('admin:clinical'))).body.code).toBe('insufficient_scope');
  });

  test('can be put on hold, released without beginning in the past, and rejected with a reason', async () => {
    const { body } = await call('POST', '', { user_id: DEMO }, staff);
    expect(body.origin).toBe('staff');
    expect((await patch(body.id, { status: 'on_hold' })).body.errors).toEqual([{ pointer: '/hold_reason', message: 'is required' }]);
    expect((await patch(body.id, { status: 'on_hold', hold_reason: 'a claim is open' })).body).toMatchObject({
      status: 'on_hold',
      hold_reason: 'a claim is open',
    });
    await p.clock('identity', { advance: 'P5D' });
    service = await p.serviceToken('admin:identity');
    expect((await read(body.id)).status).toBe('on_hold');
    expect((await patch(body.id, { status: 'on_hold', hold_reason: 'again' }, service)).body.code).toBe('conflict');
    expect((await patch(body.id, { status: 'rejected', reason: 'a law says so' }, service)).body).toMatchObject({
      status: 'rejected',
      reason: 'a law says so',
    });
    expect((await patch(body.id, { status: 'completed' }, service)).status).toBe(400);
    expect((await patch(body.id, {}, service)).status).toBe(400);
  });

  test('of marketing data is confirmed by those who hold such, and the account lives on', async () => {
    const { body } = await call('POST', '', { user_id: DEMO, scope: 'marketing', immediate: true }, service);
    const done = await until(
      'all to confirm',
      () => read(body.id),
      one => one.status === 'completed',
    );
    expect(done.tasks.map((task: { service: string }) => task.service)).toEqual(['affiliates', 'comms', 'identity']);
    expect((await p.sql('select status from identity."user" where id = $1', [DEMO]))[0].status).toBe('active');
  });
});

describe('a full erasure', () => {
  test('runs through all services by itself, ends with a receipt that verifies, and refuses sign-in', async () => {
    const own = await p.userToken(DEMO, ['read:account']);
    const made = (await call('POST', '', {}, own)).body;
    expect((await patch(made.id, { status: 'in_progress' }, service)).body).toMatchObject({ started_at: expect.any(String) });
    const done = await until(
      'all services to confirm',
      () => read(made.id),
      one => one.status === 'completed',
      30_000,
    );
    expect(done.tasks.map((task: { service: string; status: string }) => [task.service, task.status])).toEqual(
      Object.keys(SERVICES)
        .sort((one, other) => (one < other ? -1 : 1))
        .map(slug => [slug, 'confirmed']),
    );
    expect(await events('user.erasure_completed.v1', made.id)).toEqual([
      expect.objectContaining({ status: 'completed', failed_services: [] }),
    ]);
    expect(await events('user.erasure_requested.v1', made.id)).toHaveLength(1);
    expect((await p.sql('select status from identity."user" where id = $1', [DEMO]))[0].status).toBe('erased');
    await expect(p.userToken(DEMO, ['read:account'])).rejects.toThrow(/no active user/);
    const receipt = (await p.rest('GET', new URL(made.receipt_url).pathname)).body;
    const { payload, protectedHeader } = await jwtVerify(
      receipt.receipt,
      createRemoteJWKSet(new URL(`${p.url}/identity/.well-known/jwks.json`)),
      { currentDate: new Date(done.completed_at) },
    );
    expect(protectedHeader.typ).toBe('erasure-receipt+jwt');
    expect(payload).toMatchObject({
      request_id: made.id,
      scope: 'full',
      services: expect.arrayContaining([expect.objectContaining({ service: 'clinical' })]),
    });
    expect(JSON.stringify(payload)).not.toContain(DEMO);
    expect((await call('POST', '', { user_id: DEMO }, service)).body.code).toBe('conflict');
    const again = { service: 'clinical', outcome: done.tasks[0].outcome };
    expect((await patch(made.id, { confirmations: [again] }, await p.internalToken('clinical'))).status).toBe(200);
    expect(
      (await patch(made.id, { confirmations: [{ ...again, outcome: 'anonymised' }] }, await p.internalToken('clinical'))).body.code,
    ).toBe('conflict');
    expect(await events('user.erasure_completed.v1', made.id)).toHaveLength(1);
  }, 60_000);

  test('waits for the last service; each confirms for itself alone; the deadline names who did not', async () => {
    const id = '0190b3a0-0000-7000-8000-0000000e0001';
    await p.sql(
      `insert into identity.erasure_request (id, user_id, scope, status, origin, scheduled_for, due_by, created_at, started_at, receipt_token_hash)
      select $1, $2, 'full', 'in_progress', 'user', t.now, t.now + interval '30 days', t.now, t.now, '\\x00' from identity.test_clock t`,
      [id, DEMO2],
    );
    for (const slug of ['clinical', 'platform', 'webhooks', 'identity'])
      await p.sql(
        `insert into identity.erasure_task (id, request_id, service, asked_at) select gen_random_uuid(), $1, $2, t.now from identity.test_clock t`,
        [id, slug],
      );
    const clinical = await p.internalToken('clinical');
    expect((await patch(id, { confirmations: [{ service: 'webhooks', outcome: 'erased' }] }, clinical)).body.code).toBe('forbidden');
    expect((await patch(id, { status: 'cancelled' }, clinical)).body.code).toBe('forbidden');
    expect(
      (
        await patch(
          id,
          {
            confirmations: [
              { service: 'comms', outcome: 'erased' },
              { service: 'clinical', outcome: 'retained' },
            ],
          },
          service,
        )
      ).body.errors,
    ).toEqual([
      { pointer: '/confirmations/0/service', message: 'has no task here' },
      { pointer: '/confirmations/1/retained_basis', message: 'is required for retained' },
    ]);
    expect(
      (
        await patch(
          id,
          { confirmations: [{ service: 'clinical', outcome: 'retained', retained_basis: 'Medical records act', records: 12 }] },
          clinical,
        )
      ).body.status,
    ).toBe('in_progress');
    expect((await patch(id, { confirmations: [{ service: 'webhooks', outcome: 'anonymised' }] }, service)).body.status).toBe('in_progress');
    expect(await events('user.erasure_completed.v1', id)).toEqual([]);
    expect((await patch(id, { status: 'cancelled' }, service)).body.code).toBe('conflict');
    await p.sql("update identity.erasure_request set due_by = (select now + interval '1 hour' from identity.test_clock) where id = $1", [
      id,
    ]);
    await p.clock('identity', { advance: 'PT2H' });
    const late = await read(id);
    expect([late.status, late.tasks.map((task: { status: string }) => task.status)]).toEqual([
      'partial',
      ['confirmed', 'confirmed', 'failed', 'confirmed'],
    ]);
    expect(await events('user.erasure_completed.v1', id)).toEqual([
      expect.objectContaining({ status: 'partial', failed_services: ['platform'] }),
    ]);
    expect((await p.sql('select status from identity."user" where id = $1', [DEMO2]))[0].status).toBe('erased');
    const end = await patch(id, { confirmations: [{ service: 'platform', outcome: 'nothing_held' }] }, await p.internalToken('platform'));
    expect(end.body.status).toBe('completed');
    expect((await events('user.erasure_completed.v1', id)).map(one => one.status).sort((a, b) => (a < b ? -1 : 1))).toEqual([
      'completed',
      'partial',
    ]);
  });

  test('asks a service that has not confirmed again after 72 hours, with the same request id', async () => {
    const id = '0190b3a0-0000-7000-8000-0000000e0002';
    await p.sql(
      `insert into identity.erasure_request (id, user_id, scope, status, origin, scheduled_for, due_by, created_at, started_at, receipt_token_hash)
      select $1, $2, 'health', 'in_progress', 'user', t.now, t.now + interval '30 days', t.now, t.now, '\\x01' from identity.test_clock t`,
      [id, ADMIN],
    );
    await p.sql(
      `insert into identity.erasure_task (id, request_id, service, asked_at) select gen_random_uuid(), $1, 'clinical', t.now from identity.test_clock t`,
      [id],
    );
    await p.clock('identity', { advance: 'PT71H' });
    expect(await events('user.erasure_requested.v1', id)).toEqual([]);
    await p.clock('identity', { advance: 'PT1H' });
    expect(await events('user.erasure_requested.v1', id)).toHaveLength(1);
    const done = await until(
      'clinical to confirm',
      () => p.sql('select status from identity.erasure_request where id = $1', [id]),
      rows => rows[0].status === 'completed',
      30_000,
    );
    expect(done).toHaveLength(1);
    expect((await p.sql('select attempts from identity.erasure_task where request_id = $1', [id]))[0].attempts).toBe(2);
  }, 60_000);
});
