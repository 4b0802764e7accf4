import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { BRAND, DEMO, DEMO2 } from '../support/platform.js';
import { Clinic, T0 } from './clinic.js';
import { neighbours, unreachable } from './neighbours.js';

let clinic: Clinic;
let owner: string;
let other: string;
let clinician: string;
beforeAll(async () => {
  clinic = await Clinic.open();
  owner = await clinic.p.userToken(DEMO, ['read:protocols', 'write:protocols'], { brandId: BRAND } as never);
  other = await clinic.p.userToken(DEMO2, ['read:protocols', 'write:protocols']);
  clinician = await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:protocols', 'admin:clinical:read'] });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await clinic.leave();
  await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
});

const start = (body: object, token: string = clinic.token) => clinic.rest('POST', '/v1/protocols', body, token);
const act = (id: string, action: string, token: string = clinic.token, body?: object) =>
  clinic.rest('POST', `/v1/protocols/${id}/${action}`, body, token);
const started = (patient: string) =>
  clinic.p.sql(`select data from events.outbox where user_id = $1 and type = 'clinical.protocol.started.v1'`, [patient]);

describe('starting an intervention', () => {
  test('makes a protocol active and tells it once', async () => {
    const patient = clinic.stranger();
    const answer = await start({
      user_id: patient,
      kind: 'protocol',
      key: 'lipid_reset',
      started_on: '2026-07-20',
      time_zone: 'Europe/Berlin',
    });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        patient_id: patient,
        kind: 'protocol',
        key: 'lipid_reset',
        definition_version: 1,
        status: 'active',
        started_on: '2026-07-20',
        planned_end_on: '2027-01-16',
        phase: 'Build-up',
        time_zone: 'Europe/Berlin',
        source: 'member',
        version: 1,
      },
    });
    expect(await started(patient)).toEqual([
      { data: { protocol_id: answer.body.id, protocol: 'lipid_reset', version: 1, started_on: '2026-07-20', prescriber_id: null } },
    ]);
    await act(answer.body.id, 'pause');
    await act(answer.body.id, 'resume');
    expect(await started(patient)).toHaveLength(1);
  });

  test('by a member, for itself only', async () => {
    const answer = await clinic.rest('POST', '/v1/protocols/me', { kind: 'protocol', key: 'lipid_reset' }, owner);
    expect(answer).toMatchObject({
      status: 201,
      body: { patient_id: DEMO, status: 'active', source: 'member', started_on: T0.slice(0, 10) },
    });
    expect((await start({ user_id: DEMO2, kind: 'protocol', key: 'lipid_reset' }, owner)).status).toBe(404);
  });

  test('that needs a consult waits for it, and tells nothing yet', async () => {
    const patient = clinic.stranger();
    const { body } = await start({ user_id: patient, kind: 'protocol', key: 'thyroid_support' });
    expect(body.status).toBe('pending_consult');
    expect(await started(patient)).toEqual([]);
    expect(await act(body.id, 'activate')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await act(body.id, 'stop')).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  });

  test('by staff is a proposal, which the care team activates', async () => {
    const patient = clinic.stranger();
    const { body } = await start({ user_id: patient, kind: 'protocol', key: 'lipid_reset' }, clinician);
    expect(body).toMatchObject({ status: 'proposed', source: 'staff' });
    expect(await started(patient)).toEqual([]);
    expect(await act(body.id, 'activate', clinician)).toMatchObject({ status: 200, body: { status: 'active' } });
    expect(await started(patient)).toHaveLength(1);
    const consult = (await start({ user_id: patient, kind: 'protocol', key: 'thyroid_support' }, clinician)).body;
    expect(await act(consult.id, 'activate', clinician)).toMatchObject({ status: 200, body: { status: 'pending_consult' } });
  });

  test('a stack of content needs no protocol and tells no protocol event', async () => {
    const patient = clinic.stranger();
    expect(await start({ user_id: patient, kind: 'stack', key: 'sleep_basics' })).toMatchObject({
      status: 201,
      body: { kind: 'stack', status: 'active', definition_version: null, planned_end_on: null, phase: null },
    });
    expect(await started(patient)).toEqual([]);
  });

  test('is refused with 409 while the same one runs or is paused; ten at once make one', async () => {
    const patient = clinic.stranger();
    const answers = await Promise.all(Array.from({ length: 10 }, () => start({ user_id: patient, kind: 'protocol', key: 'lipid_reset' })));
    expect(answers.map(answer => answer.status).sort((a, b) => a - b)).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    const { body } = answers.find(answer => answer.status === 201)!;
    await act(body.id, 'pause');
    expect(await start({ user_id: patient, kind: 'protocol', key: 'lipid_reset' })).toMatchObject({
      status: 409,
      body: { code: 'conflict', reason: 'already_running' },
    });
    await act(body.id, 'stop');
    expect((await start({ user_id: patient, kind: 'protocol', key: 'lipid_reset' })).status).toBe(201);
  });

  test.each([
    ['no user', { user_id: undefined }, '/user_id'],
    ['an unknown protocol', { key: 'none_such' }, '/key'],
    ['a start in the future', { started_on: '2026-08-02' }, '/started_on'],
    ['a time zone that is none', { time_zone: 'Mars/Olympus' }, '/time_zone'],
    ['a kind that is none', { kind: 'ritual' }, '/kind'],
    ['a key of a shape that none has', { key: 'Lipid Reset' }, '/key'],
  ])('refuses %s', async (_what, change, pointer) => {
    const answer = await start({ user_id: clinic.stranger(), kind: 'protocol', key: 'lipid_reset', ...change });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ pointer }] } });
  });
});

describe('while patient-graph cannot be asked, a protocol with contraindications', () => {
  const notes = (id: string) =>
    clinic.p.sql(`select details from clinical.audit_log where target = $1 and action = 'intervention.contraindications_not_checked'`, [
      id,
    ]);

  test.each([
    ['cannot be reached', unreachable()],
    ['does not answer within 2 s', new Promise<object>(() => {})],
  ])('becomes active, with an audit note that they were not checked: it %s', async (_why, answer) => {
    neighbours(clinic, { ClinicalContraindications: answer });
    const { status, body } = await start({ user_id: clinic.stranger(), kind: 'protocol', key: 'lipid_reset' });
    expect([status, body.status]).toEqual([201, 'active']);
    expect(await notes(body.id)).toEqual([{ details: { contraindications: 1 } }]);
    await act(body.id, 'pause');
    await act(body.id, 'resume');
    expect(await notes(body.id)).toHaveLength(2);
  });

  test('has no such note when patient-graph has answered, nor has a stack, which names none', async () => {
    neighbours(clinic, { ClinicalContraindications: { patient: { contraindicationCodes: [] } } });
    const one = await start({ user_id: clinic.stranger(), kind: 'protocol', key: 'lipid_reset' });
    const stack = await start({ user_id: clinic.stranger(), kind: 'stack', key: 'minerals' });
    expect([await notes(one.body.id), await notes(stack.body.id)]).toEqual([[], []]);
  });

  test('is refused as contraindicated once it says so', async () => {
    neighbours(clinic, { ClinicalContraindications: { patient: { contraindicationCodes: ['condition:pregnancy'] } } });
    const refused = await start({ user_id: clinic.stranger(), kind: 'protocol', key: 'lipid_reset' });
    expect(refused).toMatchObject({ status: 409, body: { reason: 'contraindicated' } });
  });
});

describe('changing an intervention', () => {
  test('stops it with a reason and a time', async () => {
    const patient = clinic.stranger();
    const { body } = await start({ user_id: patient, kind: 'protocol', key: 'lipid_reset' });
    expect(await act(body.id, 'stop', clinic.token, { reason: 'side effects' })).toMatchObject({
      status: 200,
      body: { status: 'stopped', ended_at: T0, stop_reason: 'side effects', phase: null, version: 2 },
    });
    expect(await act(body.id, 'resume')).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: 'a protocol that is stopped cannot resume' },
    });
  });

  test('pauses, resumes and completes', async () => {
    const { body } = await start({ user_id: clinic.stranger(), kind: 'protocol', key: 'lipid_reset' });
    for (const [action, status] of [
      ['pause', 'paused'],
      ['resume', 'active'],
      ['complete', 'completed'],
    ] as const)
      expect(await act(body.id, action)).toMatchObject({ status: 200, body: { status } });
  });

  test("is the owner's, except to activate it; another member finds nothing", async () => {
    const { body } = await clinic.rest('POST', '/v1/protocols/me', { kind: 'protocol', key: 'lipid_reset' }, owner);
    expect((await act(body.id, 'pause', other)).status).toBe(404);
    expect((await act(randomUUID(), 'pause', owner)).status).toBe(404);
    expect((await act('nonsense', 'pause', owner)).status).toBe(404);
    expect((await act(body.id, 'activate', owner)).status).toBe(403);
    expect((await act(body.id, 'pause', await clinic.p.userToken(DEMO, ['read:protocols']))).status).toBe(403);
    expect(await act(body.id, 'pause', owner)).toMatchObject({ status: 200, body: { status: 'paused' } });
  });

  test('leaves an audit row for each change', async () => {
    neighbours(clinic, { ClinicalContraindications: { patient: null } });
    const { body } = await start({ user_id: clinic.stranger(), kind: 'protocol', key: 'lipid_reset' });
    await act(body.id, 'pause');
    expect(await clinic.p.sql('select action, details from clinical.audit_log where target = $1 order by at, id', [body.id])).toEqual([
      { action: 'intervention.started', details: { kind: 'protocol', status: 'active' } },
      { action: 'intervention.pause', details: { from: 'active', to: 'paused' } },
    ]);
  });
});

describe('listing interventions', () => {
  test('own ones, and those of a patient for services, clinicians and workflow', async () => {
    await clinic.rest('POST', '/v1/protocols/me', { kind: 'protocol', key: 'lipid_reset' }, owner);
    await clinic.rest('POST', '/v1/protocols/me', { kind: 'protocol', key: 'thyroid_support' }, owner);
    const keys = (answer: any) => answer.body.data.map((one: any) => one.key).sort();
    expect(keys(await clinic.rest('GET', '/v1/protocols/me', undefined, owner))).toEqual(['lipid_reset', 'thyroid_support']);
    expect(keys(await clinic.rest('GET', '/v1/protocols/me?status=active', undefined, owner))).toEqual(['lipid_reset']);
    expect(keys(await clinic.rest('GET', '/v1/protocols/me', undefined, other))).toEqual([]);
    for (const token of [clinic.token, clinician, await clinic.p.internalToken('workflow')])
      expect(keys(await clinic.rest('GET', `/v1/protocols?user_id=${DEMO}&status=active,pending_consult`, undefined, token))).toEqual([
        'lipid_reset',
        'thyroid_support',
      ]);
    expect((await clinic.rest('GET', `/v1/protocols?user_id=${DEMO}`, undefined, owner)).status).toBe(403);
    expect((await clinic.rest('GET', '/v1/protocols')).status).toBe(400);
    expect((await clinic.rest('GET', '/v1/protocols/me')).status).toBe(403);
  });
});
