import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Clinic, day, type Result } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open(day(100));
});
afterEach(() => clinic.leave());

const read = async (id: string) => (await clinic.rest('GET', `/v1/biomarkers/${id}`)).body;
const listed = async (patient: string): Promise<string[]> =>
  (await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}`)).body.data.map((row: any) => row.id);

/** Results of one draw under one reference, or each under its own. */
const draw = (more: Partial<Result> = {}): Result => ({
  code: 'ldl_c',
  value: 110,
  collectedAt: day(95),
  drawId: randomUUID(),
  status: 'preliminary',
  ...more,
});
const stored = async (patient: string, result: Result) => {
  const answer = await clinic.post(patient, result);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.data[0];
};

describe('a final result takes the place of the preliminary one of its draw', () => {
  test.each([
    ['the same value', 'the same reference', 110, true],
    ['the same value', 'another reference', 110, false],
    ['another value', 'the same reference', 121, true],
    ['another value', 'another reference', 121, false],
  ])('%s under %s: no conflict, and it closes the cycle', async (_value, _ref, value, sameRef) => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    const first = draw({ sourceRef: randomUUID() });
    const preliminary = await stored(patient, first);
    await clinic.handled(preliminary.id);
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'baseline_set' });
    const final = await stored(patient, { ...first, value, status: 'final', ...(!sameRef && { sourceRef: randomUUID() }) });
    expect(final).toMatchObject({ status: 'final', needs_review: false, supersedes: preliminary.id, value: { value } });
    await clinic.handled(final.id);
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', delta: value - 160 });
    expect(await listed(patient)).toContain(final.id);
    expect(await listed(patient)).not.toContain(preliminary.id);
    expect((await read(final.id)).history).toMatchObject([{ id: preliminary.id, status: 'preliminary', value: { value: 110 } }]);
  });

  test('and raises the alert and the red flag that a preliminary one does not raise', async () => {
    const patient = clinic.stranger();
    const first = draw({ code: 'potassium', value: 6.6 });
    await stored(patient, first);
    const alerts = async () => (await clinic.rest('GET', `/v1/critical-alerts?user_id=${patient}`)).body.data;
    expect(await alerts()).toEqual([]);
    const final = await stored(patient, { ...first, status: 'final' });
    expect(await alerts()).toMatchObject([{ observation_id: final.id, severity: 'panic' }]);
  });

  test('as the baseline of an open cycle too', async () => {
    const patient = await clinic.patient();
    const first = draw({ collectedAt: day(0), value: 160 });
    const { id } = await stored(patient, first);
    const body = { ...clinic.cycleBody(patient), baseline: { observation_id: id } };
    const cycle = (await clinic.rest('POST', '/v1/retest-cycles', body)).body;
    const final = await stored(patient, { ...first, value: 150, status: 'final' });
    expect(await clinic.read(cycle.id)).toMatchObject({ baseline_observation_id: final.id, baseline_value: { value: 150 } });
  });

  test('within one call; repeated or late, the preliminary one changes nothing any more', async () => {
    const patient = clinic.stranger();
    const first = draw({ sourceRef: randomUUID() });
    const final: Result = { ...first, value: 112, status: 'final', sourceRef: randomUUID() };
    const answer = await clinic.post(patient, first, final);
    expect(answer).toMatchObject({ status: 201, body: { data: [{ status: 'preliminary' }, { status: 'final', needs_review: false }] } });
    const [a, b] = answer.body.data;
    expect((await stored(patient, first)).id).toBe(a.id);
    expect((await stored(patient, { ...first, value: 111, sourceRef: randomUUID() })).id).toBe(b.id);
    expect(await listed(patient)).toEqual([b.id]);
  });
});

describe('a result posted as corrected bears the correction flag', () => {
  test.each([[true], [false]])('and takes the place of the one of its draw, with its reference: %s', async sameRef => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient, { value: 160 });
    const first = draw({ status: 'final', sourceRef: randomUUID() });
    const old = await stored(patient, first);
    await clinic.handled(old.id);
    const correction: Result = { ...first, value: 112, status: 'corrected', ...(!sameRef && { sourceRef: randomUUID() }) };
    const fresh = await stored(patient, correction);
    expect(fresh).toMatchObject({ status: 'corrected', needs_review: false, supersedes: old.id });
    expect((await read(old.id)).needs_review).toBe(false);
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', delta: -50 });
    expect((await stored(patient, correction)).id).toBe(fresh.id);
    expect((await stored(patient, { ...correction, sourceRef: randomUUID() })).id).toBe(fresh.id);
    expect(await listed(patient)).toContain(fresh.id);
  });

  test('and settles a conflict of its draw', async () => {
    const patient = clinic.stranger();
    const first = draw({ status: 'final' });
    const [a, b] = [await stored(patient, first), await stored(patient, { ...first, value: 180 })];
    expect([(await read(a.id)).needs_review, b.needs_review]).toEqual([true, true]);
    const fresh = await stored(patient, { ...first, value: 118, status: 'corrected' });
    expect(fresh.needs_review).toBe(false);
    expect(await listed(patient)).toEqual([fresh.id]);
  });

  test('and is stored as it is where nothing is there to correct; under a reference of another draw it is a 409', async () => {
    const patient = clinic.stranger();
    const first = draw({ status: 'corrected', sourceRef: randomUUID() });
    expect(await stored(patient, first)).toMatchObject({ status: 'corrected', supersedes: null, needs_review: false });
    const elsewhere = await clinic.post(patient, { ...first, value: 99, drawId: randomUUID() });
    expect(elsewhere).toMatchObject({ status: 409, body: { reason: 'source_ref_taken' } });
  });
});

test('the same value of a draw under another reference is no conflict, whatever range the laboratory sends with it', async () => {
  const patient = clinic.stranger();
  const row = clinic.row({ code: 'ldl_c', value: 110, collectedAt: day(95), drawId: randomUUID() });
  const post = async (more: object) =>
    (await clinic.rest('POST', '/v1/biomarkers', { user_id: patient, observations: [{ ...row, ...more }] })).body.data[0];
  const first = await post({});
  expect(await post({ source_ref: randomUUID(), reference_range: { high: 130 } })).toMatchObject({ id: first.id, needs_review: false });
});
