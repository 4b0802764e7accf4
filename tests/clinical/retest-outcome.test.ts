import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BRAND } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, CYCLE_FLAG, day, type CycleOptions, type Result } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open(day(120));
});
afterEach(() => clinic.leave());

/** A cycle from T0 and a follow-up on day 95 (within the life of 120 days); the cycle as it is afterwards. */
async function retest(baseline: CycleOptions, followUp: Partial<Result>): Promise<any> {
  const patient = await clinic.patient();
  const cycle = await clinic.cycle(patient, baseline);
  await clinic.lab(patient, { code: cycle.code, collectedAt: day(95), ...followUp });
  return clinic.read(cycle.id);
}

describe('a follow-up closes a cycle', () => {
  test('LDL-C 160 -> 130 on day 95 without a prompt: retested, improved, organic, and an Outcome Record of three keys', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    const followUp = await clinic.lab(patient, { code: 'ldl_c', value: 130, collectedAt: day(95) });
    expect(await clinic.read(cycle.id)).toMatchObject({
      status: 'retested',
      delta: -30,
      delta_percent: -18.8,
      outcome_direction: 'improved',
      outcome_basis: 'target',
      days_to_retest: 95,
      organic: true,
      timing: 'in_window',
      follow_up_observation_id: followUp.id,
      follow_up_draw_id: followUp.draw_id,
      follow_up_collected_at: day(95),
      follow_up_value: { value: 130, unit: 'mg/dL' },
      closed_at: day(120),
      crossed_target: false,
      version: 2,
    });
    expect((await clinic.events(patient)).at(-1)).toEqual({
      type: 'clinical.retest.recorded.v1',
      brand_id: BRAND,
      data: { code: 'ldl_c', direction: 'improved', days_to_retest: 95 },
    });
  });

  test.each<[string, CycleOptions, Partial<Result>, object]>([
    [
      'LDL-C 160 -> 131: unchanged within noise (limit 130.35)',
      {},
      { value: 131 },
      { outcome_direction: 'unchanged', outcome_basis: 'within_noise', delta: -29 },
    ],
    [
      'TSH 6.0 -> 0.35: improved, across the target',
      { code: 'tsh', value: 6 },
      { value: 0.35 },
      { outcome_direction: 'improved', crossed_target: true, outcome_basis: 'target' },
    ],
    [
      'TSH 6.0 -> 0.20: worsened',
      { code: 'tsh', value: 6 },
      { value: 0.2 },
      { outcome_direction: 'worsened', crossed_target: true, outcome_basis: 'target' },
    ],
    [
      'TSH 2.0 -> 1.2: unchanged inside the target',
      { code: 'tsh', value: 2 },
      { value: 1.2 },
      { outcome_direction: 'unchanged', outcome_basis: 'inside_target' },
    ],
    [
      'vitamin D 24 -> 30 ng/mL: unchanged',
      { code: 'vitamin_d_25oh', value: 24 },
      { value: 30 },
      { outcome_direction: 'unchanged', outcome_basis: 'within_noise' },
    ],
    [
      'vitamin D 24 -> 30.2 ng/mL: improved',
      { code: 'vitamin_d_25oh', value: 24 },
      { value: 30.2 },
      { outcome_direction: 'improved', delta: 6.2 },
    ],
    [
      'vitamin D 24 ng/mL -> 75.4 nmol/L: improved, 30.21 ng/mL',
      { code: 'vitamin_d_25oh', value: 24 },
      { value: 75.4, unit: 'nmol/L' },
      { outcome_direction: 'improved', follow_up_value: { value: 30.21, unit: 'ng/mL' } },
    ],
    [
      'HbA1c 6.4 % -> 41 mmol/mol: 5.9 %, improved, delta -0.5',
      { code: 'hba1c', value: 6.4 },
      { value: 41, unit: 'mmol/mol' },
      { outcome_direction: 'improved', delta: -0.5, follow_up_value: { value: 5.9, unit: '%' } },
    ],
    [
      'hs-CRP 2.0 -> <0.3: improved, censored, no delta',
      { code: 'hs_crp', value: 2 },
      { value: 0.3, comparator: 'lt' },
      { outcome_direction: 'improved', outcome_basis: 'censored', delta: null, delta_percent: null },
    ],
    [
      'hs-CRP 0.4 -> <0.3: unchanged, censored',
      { code: 'hs_crp', value: 0.4 },
      { value: 0.3, comparator: 'lt' },
      { outcome_direction: 'unchanged', outcome_basis: 'censored', delta: null },
    ],
  ])('%s', async (_what, baseline, followUp, expected) => {
    expect(await retest(baseline, followUp)).toMatchObject({ status: 'retested', ...expected });
  });

  test("a clinician's target for the cycle replaces the dictionary's", async () => {
    expect(await retest({ more: { target: { high: 50 } } }, { value: 90 })).toMatchObject({
      outcome_direction: 'improved',
      outcome_basis: 'target',
    });
    expect(await retest({ more: { target: { high: 200 } } }, { value: 90 })).toMatchObject({
      outcome_direction: 'unchanged',
      outcome_basis: 'inside_target',
    });
  });

  test("another laboratory's imprecision widens the noise", async () => {
    expect(await retest({}, { value: 130, performer: 'lab_b' })).toMatchObject({
      outcome_direction: 'unchanged',
      outcome_basis: 'within_noise',
    });
    expect(await retest({}, { value: 130, performer: null })).toMatchObject({ outcome_direction: 'improved' });
  });

  test('early, in the window, late: by draw time', async () => {
    const timing = async (at: number) => (await retest({}, { value: 110, collectedAt: day(at) })).timing;
    expect(await Promise.all([44.9, 45, 97, 97.1].map(timing))).toEqual(['early', 'in_window', 'in_window', 'late']);
  });

  test('a draw closes every open cycle that it qualifies for, each with its own record', async () => {
    const patient = await clinic.patient();
    const cycles = [await clinic.cycle(patient), await clinic.cycle(patient, { value: 150, drawId: randomUUID() })];
    await clinic.lab(patient, { code: 'ldl_c', value: 100, collectedAt: day(90) });
    expect(await Promise.all(cycles.map(({ id }) => clinic.read(id)))).toMatchObject([
      { status: 'retested', delta: -60 },
      { status: 'retested', delta: -50 },
    ]);
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'cycle_started', 'recorded', 'recorded']);
  });

  test('a new draw closes an older cycle and is the baseline of a new one', async () => {
    const patient = await clinic.patient();
    const older = await clinic.cycle(patient);
    const newer = await clinic.cycle(patient, { collectedAt: day(80), value: 120, drawId: randomUUID() });
    await clinic.handled(newer.baseline_observation_id);
    expect(await clinic.read(older.id)).toMatchObject({ status: 'retested', days_to_retest: 80 });
    expect(await clinic.read(newer.id)).toMatchObject({ status: 'baseline_set' });
  });

  test('the earliest of several draws counts, whichever comes first', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    const answer = await clinic.post(
      patient,
      { code: 'ldl_c', value: 90, collectedAt: day(95) },
      { code: 'ldl_c', value: 150, collectedAt: day(92) },
    );
    for (const { id } of answer.body.data) await clinic.handled(id);
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', follow_up_value: { value: 150 }, days_to_retest: 92 });
  });
});

describe('a cycle stays open', () => {
  test.each<[string, Partial<Result>]>([
    ['a manual value', { source: 'manual' }],
    ['a wearable value', { source: 'wearable' }],
    ['a preliminary result', { status: 'preliminary' }],
    ['a draw before the baseline', { collectedAt: day(-1) }],
    ['the instant of the baseline', { collectedAt: day(0) }],
    ['another marker', { code: 'apob', value: 90 }],
  ])('for %s', async (_what, followUp) => {
    expect(await retest({}, { value: 100, ...followUp })).toMatchObject({ status: 'baseline_set', follow_up_value: null });
  });

  test('for a result of the same draw', async () => {
    const drawId = randomUUID();
    expect(await retest({ drawId }, { value: 100, drawId, performer: 'lab_b' })).toMatchObject({ status: 'baseline_set' });
  });

  test('for a text result, marked not comparable, until a comparable one comes', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    await clinic.lab(patient, { code: 'ldl_c', textValue: 'haemolysed', collectedAt: day(91) });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'baseline_set', last_error_class: 'not_comparable', failure_count: 1 });
    expect(await clinic.sweep()).toMatchObject({ failed: 1, recorded: 0, expired: 0 });
    await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(93) });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', days_to_retest: 93, failure_count: 0, last_error_class: null });
  });

  test('for two results of one draw that contradict each other', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    const drawId = randomUUID();
    const { body } = await clinic.post(
      patient,
      { code: 'ldl_c', value: 110, collectedAt: day(91), drawId },
      { code: 'ldl_c', value: 190, collectedAt: day(91), drawId },
    );
    expect(body.data).toMatchObject([{ needs_review: true }, { needs_review: true }]);
    for (const { id } of body.data) await clinic.handled(id);
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'baseline_set' });
  });
});

describe('the re-test handler', () => {
  test('leaves no trace while the cycle flag is off; the sweep records what was missed once it is on', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient, { collectedAt: day(-5) });
    await clinic.flag(CYCLE_FLAG, null);
    await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(90) });
    expect(await clinic.sweep()).toMatchObject({ recorded: 0, expired: 0 });
    expect(await clinic.read(cycle.id)).toEqual(cycle);
    await clinic.flag(CYCLE_FLAG, true);
    expect(await clinic.sweep()).toMatchObject({ recorded: 1, expired: 0 });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', days_to_retest: 95 });
  });

  test('may be down: ingestion answers 201, and once it is back the cycle is recorded once', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    await clinic.fault('retest.handler', null, 2);
    const answer = await clinic.post(patient, { code: 'ldl_c', value: 110, collectedAt: day(95) });
    expect(answer.status).toBe(201);
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'baseline_set' });
    await until(
      'the record',
      () => clinic.read(cycle.id),
      ({ status }) => status === 'retested',
    );
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'recorded']);
  });

  test('handler, sweep and another sweep at once yield one record and one event', async () => {
    const patient = await clinic.patient();
    const cycles = [await clinic.cycle(patient), await clinic.cycle(patient, { drawId: randomUUID() })];
    const { body } = await clinic.post(patient, { code: 'ldl_c', value: 110, collectedAt: day(95) });
    await Promise.all([
      clinic.handled(body.data[0].id),
      clinic.rest('POST', '/v1/retest-cycles/sweep'),
      clinic.rest('POST', '/v1/retest-cycles/sweep'),
    ]);
    for (const { id } of cycles) expect(await clinic.read(id)).toMatchObject({ status: 'retested' });
    const types = await clinic.eventTypes(patient);
    expect(types.filter(type => type === 'recorded')).toHaveLength(cycles.length);
  });
});
