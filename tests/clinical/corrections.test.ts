import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2 } from '../support/platform.js';
import { Clinic, day } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open(day(100));
});
afterEach(async () => {
  await clinic.leave();
  await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
});

const change = (id: string, action: string, body: object = {}) => clinic.rest('POST', `/v1/biomarkers/${id}/${action}`, body);
const ldl = async (patient: string, value: number, at = day(95), drawId = randomUUID()) =>
  (await clinic.post(patient, { code: 'ldl_c', value, collectedAt: at, drawId })).body.data[0];

describe('correcting a result', () => {
  test('makes a new row that supersedes the old one; nothing is overwritten, and the list shows the new one', async () => {
    const patient = clinic.stranger();
    const old = await ldl(patient, 110);
    const answer = await change(old.id, 'correct', { value: 112, unit: 'mg/dL' });
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'corrected', supersedes: old.id, draw_id: old.draw_id, collected_at: old.collected_at, value: { value: 112 } },
    });
    const list = (await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}`)).body.data;
    expect(list.map((row: any) => row.id)).toEqual([answer.body.id]);
    const read = (await clinic.rest('GET', `/v1/biomarkers/${answer.body.id}`)).body;
    expect(read.history).toMatchObject([{ id: old.id, status: 'final', value: { value: 110 } }]);
    const again = await change(answer.body.id, 'correct', { value: 113, unit: 'mg/dL' });
    expect((await clinic.rest('GET', `/v1/biomarkers/${again.body.id}`)).body.history.map((row: any) => row.value.value)).toEqual([
      112, 110,
    ]);
  });

  test('is refused for a row that was corrected or withdrawn, with bad input, and for another id', async () => {
    const old = await ldl(clinic.stranger(), 110);
    expect(await change(old.id, 'correct', { value: 112 })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/unit' }] } });
    expect(await change(old.id, 'correct', {})).toMatchObject({ status: 400, body: { errors: [{ pointer: '/value' }] } });
    await change(old.id, 'correct', { value: 112, unit: 'mg/dL' });
    expect(await change(old.id, 'correct', { value: 112, unit: 'mg/dL' })).toMatchObject({ status: 409, body: { reason: 'superseded' } });
    expect((await change(old.id, 'retract')).status).toBe(409);
    expect((await change(randomUUID(), 'correct', { value: 1, unit: 'mg/dL' })).status).toBe(404);
  });

  test('of the baseline changes the baseline of an open cycle', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient, { value: 160 });
    await change(cycle.baseline_observation_id, 'correct', { value: 120, unit: 'mg/dL' });
    const after = await clinic.read(cycle.id);
    expect(after).toMatchObject({ status: 'baseline_set', baseline_value: { value: 120 } });
    await clinic.lab(patient, { code: 'ldl_c', value: 118, collectedAt: day(95) });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', outcome_direction: 'unchanged', delta: -2 });
  });

  test('of the follow-up of a closed cycle leaves what was published, with an audit note free of values', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient, { value: 160 });
    const row = await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(95) });
    await change(row.id, 'correct', { value: 170.3, unit: 'mg/dL' });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', outcome_direction: 'improved', delta: -50 });
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'recorded']);
    const [note] = await clinic.p.sql(
      `select details from clinical.audit_log where action = 'retest_cycle.outcome_corrected' and target = $1`,
      [cycle.id],
    );
    expect(note.details).toEqual({ status: 'retested', of: 'follow_up' });
  });

  test('of a result that waited as not comparable lets the next sweep record it', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    const row = await clinic.lab(patient, { code: 'ldl_c', textValue: 'haemolysed', collectedAt: day(95) });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'baseline_set', last_error_class: 'not_comparable' });
    const fixed = await change(row.id, 'correct', { value: 110, unit: 'mg/dL' });
    await clinic.handled(fixed.body.id);
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', outcome_direction: 'improved', delta: -50 });
  });
});

describe('retracting a result', () => {
  test('keeps the row, marked as entered in error, and takes it out of every list', async () => {
    const patient = clinic.stranger();
    const old = await ldl(patient, 110);
    expect(await change(old.id, 'retract')).toMatchObject({ status: 200, body: { status: 'entered_in_error', supersedes: old.id } });
    expect((await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}`)).body.data).toEqual([]);
    expect((await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}&latest=true`)).body.data).toEqual([]);
    expect((await clinic.rest('GET', `/v1/biomarkers/${old.id}`)).body).toMatchObject({ status: 'final', value: { value: 110 } });
  });

  test('settles a contradiction: the one that is left needs no person, and closes its cycle at the next sweep', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    const draw = randomUUID();
    const [a, b] = [await ldl(patient, 110, day(95), draw), await ldl(patient, 180, day(95), draw)];
    expect(b.needs_review).toBe(true);
    await change(b.id, 'retract');
    expect((await clinic.rest('GET', `/v1/biomarkers/${a.id}`)).body.needs_review).toBe(false);
    await clinic.sweep();
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', delta: -50 });
  });

  test('of a baseline keeps its open cycle open: there is nothing to compare with', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    await change(cycle.baseline_observation_id, 'retract');
    await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(95) });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'baseline_set' });
  });
});

test('correcting and retracting is for services and those who hold results', async () => {
  const row = await ldl(clinic.stranger(), 110);
  const staff = await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:results'] });
  const ask = (token: string | null) => clinic.rest('POST', `/v1/biomarkers/${row.id}/correct`, { value: 111, unit: 'mg/dL' }, token);
  expect((await ask(null)).status).toBe(401);
  expect((await ask(await clinic.p.userToken(DEMO, ['write:biomarkers']))).status).toBe(403);
  expect((await ask(await clinic.p.internalToken('comms'))).status).toBe(403);
  expect((await ask(staff)).status).toBe(200);
});

describe('a trend', () => {
  const trend = async (query = '', scopes = ['read:biomarkers']) =>
    clinic.rest('GET', `/v1/biomarkers/me/trends/ldl_c${query}`, undefined, await clinic.p.userToken(DEMO, scopes));

  test('shows own results oldest first, with ranges, the change that means something, and which changes do', async () => {
    for (const [index, value] of [160, 135, 120, 150].entries()) await ldl(DEMO, value, day(index));
    const { body } = await trend();
    expect(body).toMatchObject({
      code: 'ldl_c',
      unit: 'mg/dL',
      reference: { low: null, high: 130 },
      optimal: { low: null, high: 100 },
      change_band: { rise: 22.7, fall: -18.5, absolute: false },
    });
    expect(body.points.map((point: any) => [point.value, point.change])).toEqual([
      [160, null],
      [135, 'none'],
      [120, 'none'],
      [150, 'rise'],
    ]);
    expect((await trend(`?from=${day(1)}&to=${day(2)}`)).body.points.map((point: any) => point.value)).toEqual([135, 120]);
  });

  test('of an unknown marker is not found, of one without results is empty, and needs read:biomarkers', async () => {
    expect(
      (await clinic.rest('GET', '/v1/biomarkers/me/trends/unobtainium', undefined, await clinic.p.userToken(DEMO, ['read:biomarkers'])))
        .status,
    ).toBe(404);
    expect((await trend()).body.points).toEqual([]);
    expect((await trend('', ['read:clinical'])).status).toBe(403);
  });
});
