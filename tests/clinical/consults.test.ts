import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { visitCancelled, visitCreated, visitRescheduled } from '../../events/catalogue/booking.js';
import { ConsultStatus } from '../../subgraphs/clinical/entities/consult.js';
import { CONSULT_STATES } from '../../subgraphs/clinical/rules/consult.js';
import { ADMIN, DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, T0 } from './clinic.js';

let clinic: Clinic;
let clinician: string;
beforeAll(async () => {
  clinic = await Clinic.open();
  clinician = await clinic.p.userToken(DEMO2, [], {
    permissions: ['admin:clinical:consults', 'admin:clinical:read'],
    roles: ['clinician'],
  });
});
afterEach(async () => {
  await clinic.leave();
  await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
});

const member = (scopes = ['read:clinical', 'write:clinical'], id = DEMO) => clinic.p.userToken(id, scopes);
const as = (token: string, method: string, path: string, body?: object) => clinic.rest(method, `/v1/consults${path}`, body, token);

/** A consult of the demo user in progress, with a clinician. */
async function inProgress(extra: object = {}): Promise<any> {
  const { body } = await as(await member(), 'POST', '/me', { type: 'initial', intake_answers: { smoker: false }, ...extra });
  const scheduled = await as(clinician, 'PATCH', `/${body.id}`, {
    version: 1,
    status: 'scheduled',
    visit_id: randomUUID(),
    clinician_id: DEMO2,
  });
  expect(scheduled).toMatchObject({ status: 200, body: { status: 'scheduled', clinician_id: DEMO2 } });
  return (await as(clinician, 'PATCH', `/${body.id}`, { version: scheduled.body.version, status: 'in_progress', notes: 'Well.' })).body;
}

describe('a consult', () => {
  test('is asked for, scheduled with a visit, held and signed by its clinician; the event names no note', async () => {
    const consult = await inProgress();
    expect(consult).toMatchObject({ status: 'in_progress', notes: 'Well.', intake_answers: { smoker: false } });
    const signed = await as(clinician, 'POST', `/${consult.id}/sign`, {
      version: consult.version,
      outcome: 'approved',
      follow_up_due_on: '2026-11-01',
    });
    expect(signed).toMatchObject({ status: 200, body: { status: 'signed', outcome: 'approved', signed_at: T0 } });
    const [event] = await clinic.p.sql(
      `select data from events.outbox where type = 'clinical.consult.completed.v1' and user_id = $1 order by seq desc limit 1`,
      [DEMO],
    );
    expect(event.data).toEqual({
      consult_id: consult.id,
      visit_id: consult.visit_id,
      consult_type: 'initial',
      completed_at: T0,
      follow_up_due_on: '2026-11-01',
    });
  });

  test('that is signed never changes; addenda are added', async () => {
    const consult = await inProgress();
    const add = () => as(clinician, 'POST', `/${consult.id}/addenda`, { text: 'Also: sleep.' });
    expect((await add()).status).toBe(409);
    const signed = (await as(clinician, 'POST', `/${consult.id}/sign`, { version: consult.version, outcome: 'referred' })).body;
    expect(await as(clinician, 'PATCH', `/${consult.id}`, { version: signed.version, notes: 'x' })).toMatchObject({
      status: 409,
      body: { reason: 'consult_signed' },
    });
    expect((await as(clinician, 'POST', `/${consult.id}/cancel`)).status).toBe(409);
    expect(await add()).toMatchObject({ status: 201, body: { notes: 'Well.', addenda: [{ text: 'Also: sleep.', by: `staff:${DEMO2}` }] } });
  });

  test('is signed by the assigned clinician alone, in the version that was read, and only in progress', async () => {
    const consult = await inProgress();
    const other = await clinic.p.userToken(ADMIN, [], { permissions: ['admin:clinical:consults'] });
    const sign = (token: string, version: number) => as(token, 'POST', `/${consult.id}/sign`, { version, outcome: 'approved' });
    expect((await sign(other, consult.version)).status).toBe(403);
    expect((await sign(clinic.token, consult.version)).status).toBe(403);
    expect(await sign(clinician, consult.version - 1)).toMatchObject({ status: 409, body: { reason: 'version_conflict' } });
    expect((await sign(clinician, consult.version)).status).toBe(200);
    expect((await sign(clinician, consult.version + 1)).status).toBe(409);
  });

  test('shows notes to those who hold consults, state and outcome to payments and workflow, nothing to another member', async () => {
    const { id } = await inProgress();
    const read = (token: string) => as(token, 'GET', `/${id}`);
    expect((await read(clinician)).body.notes).toBe('Well.');
    expect((await read(await member(['read:clinical', 'read:biomarkers']))).body).toMatchObject({
      notes: null,
      intake_answers: { smoker: false },
    });
    expect((await read(await member(['read:clinical']))).body).toMatchObject({ notes: null, intake_answers: null });
    for (const slug of ['payments', 'workflow'] as const)
      expect((await read(await clinic.p.internalToken(slug))).body).toMatchObject({
        status: 'in_progress',
        outcome: null,
        notes: null,
        intake_answers: null,
      });
    expect((await read(await member(['read:clinical'], DEMO2))).status).toBe(404);
    expect((await read(await clinic.p.internalToken('comms'))).status).toBe(403);
    expect((await as(await member(), 'GET', '/me')).body.data).toMatchObject([{ id }]);
    expect((await as(clinician, 'GET', `?user_id=${DEMO}&status=in_progress`)).body.data).toMatchObject([{ id }]);
  });

  test('is cancelled by its patient, not by another; a visit is needed to be scheduled', async () => {
    const { body } = await as(await member(), 'POST', '/me', { type: 'initial' });
    expect(await as(clinician, 'PATCH', `/${body.id}`, { version: 1, status: 'scheduled' })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/visit_id' }] },
    });
    expect(await as(clinician, 'PATCH', `/${body.id}`, { version: 1, status: 'signed' })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/status' }] },
    });
    expect((await as(clinician, 'PATCH', `/${body.id}`, { version: 1, status: 'in_progress' })).status).toBe(409);
    expect((await as(await member(['write:clinical'], DEMO2), 'POST', `/${body.id}/cancel`)).status).toBe(404);
    expect(await as(await member(), 'POST', `/${body.id}/cancel`)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect((await as(await member(), 'POST', `/${body.id}/cancel`)).status).toBe(409);
  });

  test('answers of its intake are judged by red-flag rules', async () => {
    const { body } = await as(await member(), 'POST', '/me', { type: 'initial', intake_answers: { chest_pain: true } });
    const flags = (await clinic.rest('GET', `/v1/red-flags?user_id=${DEMO}`)).body.data;
    expect(flags).toMatchObject([{ rule: { key: 'chest_pain' }, source: 'questionnaire', severity: 'urgent', evidence: [body.id] }]);
    for (const answers of ['yes', 5, true, ['yes']])
      expect(await as(await member(), 'POST', '/me', { type: 'initial', intake_answers: answers })).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '/intake_answers' }] },
      });
    expect(await as(await member(), 'POST', '/me', { type: 'initial', intake_answers: { a: { b: 1 } } })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/intake_answers' }] },
    });
  });

  test('follows the visits of booking: scheduled, moved, and back to requested when the visit is cancelled', async () => {
    const { body } = await as(await member(), 'POST', '/me', { type: 'initial' });
    const visit = randomUUID();
    const status = async () => (await as(clinician, 'GET', `/${body.id}`)).body;
    await clinic.tell(
      'booking',
      visitCreated,
      {
        visit_id: visit,
        visit_type: 'initial',
        provider_id: randomUUID(),
        mode: 'video',
        starts_at: T0,
        ends_at: T0,
        time_zone: 'UTC',
        source: 'member',
      },
      DEMO,
    );
    await until('the visit', status, consult => consult.status === 'scheduled');
    expect((await status()).visit_id).toBe(visit);
    await clinic.tell(
      'booking',
      visitRescheduled,
      {
        visit_id: visit,
        provider_id: randomUUID(),
        previous_starts_at: T0,
        starts_at: T0,
        ends_at: T0,
        initiated_by: 'staff',
        reschedule_count: 1,
      },
      DEMO,
    );
    const moves = () => clinic.p.sql(`select action from clinical.audit_log where target = $1 and action = 'consult.schedule'`, [body.id]);
    await until('the new time', moves, found => found.length === 2);
    expect(await status()).toMatchObject({ status: 'scheduled', visit_id: visit });
    await clinic.tell(
      'booking',
      visitCancelled,
      { visit_id: visit, starts_at: T0, initiated_by: 'member', reason: 'member_request', fee_applies: false },
      DEMO,
    );
    await until('the cancellation', status, consult => consult.status === 'requested');
    expect((await status()).visit_id).toBeNull();
  });

  test.each(Object.values(ConsultStatus))('the table of consults says what leads out of %s', status => {
    const expected = {
      requested: { schedule: 'scheduled', cancel: 'cancelled' },
      scheduled: { schedule: 'scheduled', unschedule: 'requested', begin: 'in_progress', cancel: 'cancelled' },
      in_progress: { sign: 'signed', cancel: 'cancelled' },
      signed: {},
      cancelled: {},
    };
    expect(CONSULT_STATES[status]).toEqual(expected[status]);
  });
});

describe('an intervention that needs a consult', () => {
  const start = () => clinic.rest('POST', '/v1/protocols', { user_id: DEMO, kind: 'protocol', key: 'thyroid_support' });
  const intervention = async () => (await clinic.rest('GET', `/v1/protocols?user_id=${DEMO}`)).body.data[0];
  async function judged(outcome: string): Promise<void> {
    expect((await start()).body.status).toBe('pending_consult');
    const [consult] = (await as(clinician, 'GET', `?user_id=${DEMO}`)).body.data;
    expect(consult).toMatchObject({ type: 'thyroid_support', status: 'requested' });
    const change = async (version: number, body: object) =>
      (await as(clinician, 'PATCH', `/${consult.id}`, { version, ...body })).body.version;
    const version = await change(await change(1, { status: 'scheduled', visit_id: randomUUID(), clinician_id: DEMO2 }), {
      status: 'in_progress',
    });
    expect((await as(clinician, 'POST', `/${consult.id}/sign`, { version, outcome })).status).toBe(200);
  }

  test('becomes active with the approval, with its prescriber', async () => {
    await judged('approved');
    expect(await intervention()).toMatchObject({ status: 'active', prescriber_id: DEMO2 });
    const [event] = await clinic.p.sql(
      `select data from events.outbox where type = 'clinical.protocol.started.v1' and user_id = $1 order by seq desc limit 1`,
      [DEMO],
    );
    expect(event.data).toMatchObject({ protocol: 'thyroid_support', prescriber_id: DEMO2 });
  });

  test.each([
    ['denied', 'cancelled'],
    ['more_info', 'pending_consult'],
    ['referred', 'pending_consult'],
  ])('after %s is %s', async (outcome, status) => {
    await judged(outcome);
    expect((await intervention()).status).toBe(status);
  });
});
