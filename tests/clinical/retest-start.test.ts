import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BRAND, DEMO, DEMO2 } from '../support/platform.js';
import { Clinic, CYCLE_FLAG, day, T0 } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open();
});
afterEach(() => clinic.leave());

describe('POST /v1/retest-cycles', () => {
  test('is 403 forbidden while the cycle flag is off, stores nothing and tells nobody', async () => {
    await clinic.flag(CYCLE_FLAG, null);
    const patient = await clinic.patient();
    expect(await clinic.rest('POST', '/v1/retest-cycles', clinic.cycleBody(patient))).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    await clinic.flag(CYCLE_FLAG, '!error');
    expect(await clinic.rest('POST', '/v1/retest-cycles', clinic.cycleBody(patient))).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    await clinic.flag(CYCLE_FLAG, true);
    expect(
      await clinic.p.sql(
        'select (select count(*)::int from clinical.retest_cycle) + (select count(*)::int from clinical.observation) as rows',
      ),
    ).toEqual([{ rows: 0 }]);
    expect(await clinic.events(patient)).toEqual([]);
  });

  test('captures a baseline: due after the window, expiring after the grace, answered as the contract shows it', async () => {
    const patient = await clinic.patient();
    const drawId = randomUUID();
    const answer = await clinic.rest(
      'POST',
      '/v1/retest-cycles',
      clinic.cycleBody(patient, { drawId, more: { window_days: 90, grace_days: 30, target: { high: 100 } } }),
    );
    const [intervention] = await clinic.p.sql('select id from clinical.intervention where patient_id = $1', [patient]);
    expect(answer.status).toBe(201);
    expect(answer.headers.location).toMatch(new RegExp(`/v1/retest-cycles/${answer.body.id}$`));
    expect(answer.body).toEqual({
      id: expect.any(String),
      patient_id: patient,
      code: 'ldl_c',
      status: 'baseline_set',
      brand_id: BRAND,
      baseline_observation_id: expect.any(String),
      baseline_draw_id: drawId,
      baseline_collected_at: T0,
      baseline_value: { value: 160, unit: 'mg/dL' },
      intervention: { kind: 'protocol', id: intervention.id, key: 'lipid_reset' },
      window_days: 90,
      grace_days: 30,
      retest_due_at: '2026-10-30T08:00:00.000Z',
      expires_at: '2026-11-29T08:00:00.000Z',
      target: { low: null, high: 100 },
      prompt_count: 0,
      last_prompted_at: null,
      next_prompt_at: '2026-10-30T08:00:00.000Z',
      follow_up_observation_id: null,
      follow_up_draw_id: null,
      follow_up_collected_at: null,
      follow_up_value: null,
      delta: null,
      delta_percent: null,
      outcome_direction: null,
      outcome_basis: null,
      crossed_target: null,
      days_to_retest: null,
      timing: null,
      organic: null,
      closed_at: null,
      failure_count: 0,
      last_error_class: null,
      created_at: T0,
      version: 1,
    });
  });

  test('tells code, protocol, window and times, and no value', async () => {
    const patient = await clinic.patient();
    await clinic.cycle(patient);
    expect(await clinic.events(patient)).toEqual([
      {
        type: 'clinical.retest.cycle_started.v1',
        brand_id: BRAND,
        data: { code: 'ldl_c', protocol: 'lipid_reset', window_days: 90, due_at: '2026-10-30T08:00:00.000Z', started_at: T0 },
      },
    ]);
  });

  test('stores an inline baseline as a laboratory observation of its draw, once', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    const { body } = await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}`);
    expect(body.data).toMatchObject([
      {
        id: cycle.baseline_observation_id,
        source: 'lab',
        draw_id: cycle.baseline_draw_id,
        value: { value: 160, unit: 'mg/dL' },
        performer: 'lab_a',
      },
    ]);
  });

  test('uses the observation of the draw that is there already', async () => {
    const patient = await clinic.patient();
    const drawId = randomUUID();
    const stored = await clinic.lab(patient, { code: 'ldl_c', value: 158, collectedAt: T0, drawId });
    expect(await clinic.cycle(patient, { drawId })).toMatchObject({
      baseline_observation_id: stored.id,
      baseline_value: { value: 158, unit: 'mg/dL' },
    });
    expect((await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}`)).body.data).toHaveLength(1);
  });

  test('takes an observation by its id, and a marker by LOINC', async () => {
    const patient = await clinic.patient();
    const stored = await clinic.lab(patient, { code: 'ldl_c', value: 4.138, unit: 'mmol/L', collectedAt: T0 });
    const cycle = await clinic.cycle(patient, { more: { code: '13457-7', baseline: { observation_id: stored.id } } });
    expect(cycle).toMatchObject({
      code: 'ldl_c',
      baseline_observation_id: stored.id,
      baseline_draw_id: stored.draw_id,
      baseline_value: { value: 160, unit: 'mg/dL' },
    });
  });

  test('again for the same patient, marker and draw is the stored cycle, whatever else it says and in any state', async () => {
    const patient = await clinic.patient();
    const drawId = randomUUID();
    const cycle = await clinic.cycle(patient, { drawId });
    const again = (more: object) => clinic.rest('POST', '/v1/retest-cycles', clinic.cycleBody(patient, { drawId, more }));
    expect(await again({})).toMatchObject({ status: 200, body: cycle });
    expect(await again({ window_days: 60 })).toMatchObject({ status: 200, body: { id: cycle.id, window_days: 90 } });
    expect(await again({ intervention: { kind: 'stack', key: 'none_such' } })).toMatchObject({ status: 200, body: { id: cycle.id } });
    await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(0.001) });
    expect(await again({})).toMatchObject({ status: 200, body: { id: cycle.id, status: 'retested' } });
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'recorded']);
  });

  test('ten at once make one cycle and one event', async () => {
    const patient = await clinic.patient();
    const drawId = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => clinic.rest('POST', '/v1/retest-cycles', clinic.cycleBody(patient, { drawId }))),
    );
    expect(answers.map(answer => answer.status).sort((a, b) => a - b)).toEqual([...Array.from({ length: 9 }, () => 200), 201]);
    expect(new Set(answers.map(answer => answer.body.id)).size).toBe(1);
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started']);
    expect(await clinic.p.sql('select count(*)::int as rows from clinical.observation where patient_id = $1', [patient])).toEqual([
      { rows: 1 },
    ]);
  });

  test('another marker of the same draw is another cycle', async () => {
    const patient = await clinic.patient();
    const drawId = randomUUID();
    const cycles = [await clinic.cycle(patient, { drawId }), await clinic.cycle(patient, { drawId, code: 'apob', value: 120 })];
    expect(new Set(cycles.map(cycle => cycle.id)).size).toBe(2);
  });

  test('closes at once when a qualifying follow-up is stored already', async () => {
    const patient = await clinic.patient();
    await clinic.clock(day(1));
    const followUp = await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(0.5) });
    const cycle = await clinic.cycle(patient);
    expect(cycle).toMatchObject({
      status: 'retested',
      follow_up_observation_id: followUp.id,
      outcome_direction: 'improved',
      organic: true,
      closed_at: day(1),
      next_prompt_at: null,
    });
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'recorded']);
  });

  test('accepts a baseline older than window and grace; the next sweep expires it', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient, { collectedAt: day(-121) });
    expect(cycle.status).toBe('baseline_set');
    await clinic.sweep();
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'expired', prompt_count: 0 });
  });

  test("takes the user's brand where the call names none", async () => {
    const brand = randomUUID();
    const [before] = await clinic.p.sql('select brand_id from identity."user" where id = $1', [DEMO2]);
    await clinic.p.sql('update identity."user" set brand_id = $2 where id = $1', [DEMO2, brand]);
    await clinic.rest('POST', '/v1/protocols', { user_id: DEMO2, kind: 'protocol', key: 'lipid_reset' });
    expect(await clinic.cycle(DEMO2, { more: { brand_id: undefined } })).toMatchObject({ brand_id: brand });
    await clinic.p.sql('update identity."user" set brand_id = $2 where id = $1', [DEMO2, before.brand_id]);
  });

  test('takes the default brand of the platform where nothing names one', async () => {
    const patient = await clinic.patient();
    expect(await clinic.cycle(patient, { more: { brand_id: undefined } })).toMatchObject({ brand_id: BRAND });
  });
});

describe('POST /v1/retest-cycles refuses', () => {
  const refused = async (patient: string, options: Parameters<Clinic['cycleBody']>[1]) =>
    clinic.rest('POST', '/v1/retest-cycles', clinic.cycleBody(patient, options));
  const pointers = (answer: { body: { errors: { pointer: string }[] } }) => answer.body.errors.map(error => error.pointer).sort();

  test.each([
    ['a unit that cannot be converted', { unit: 'mm[Hg]' }, ['/baseline/unit']],
    ['an unknown unit', { unit: 'furlong' }, ['/baseline/unit']],
    ['a draw in the future', { collectedAt: '2027-08-01T08:00:00.000Z' }, ['/baseline/collected_at']],
    ['a value that is not plausible', { value: 160_000 }, ['/baseline/value']],
    [
      'a window that is too short, and a grace that is too long',
      { more: { window_days: 13, grace_days: 91 } },
      ['/grace_days', '/window_days'],
    ],
    ['an unknown marker', { code: 'unobtainium', unit: 'mg/dL' }, ['/code']],
    [
      'an incomplete baseline',
      { more: { baseline: { draw_id: randomUUID() } } },
      ['/baseline/collected_at', '/baseline/unit', '/baseline/value'],
    ],
    [
      'an intervention by id and key',
      { more: { intervention: { kind: 'protocol', key: 'lipid_reset', id: randomUUID() } } },
      ['/intervention'],
    ],
    ['a target upside down', { more: { target: { low: 3, high: 2 } } }, ['/target/low']],
    ['a patient that is no UUID', { more: { patient_id: 'me' } }, ['/patient_id']],
    ['an unknown key', { more: { note: 'x' } }, ['/note']],
  ])('%s', async (_what, options, expected) => {
    const patient = await clinic.patient();
    const answer = await refused(patient, options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(pointers(answer)).toEqual(expected);
  });

  test('an observation or intervention of another patient with 404', async () => {
    const [patient, other] = [await clinic.patient(), await clinic.patient()];
    const theirs = await clinic.lab(other, { code: 'ldl_c', value: 150, collectedAt: T0 });
    expect(await refused(patient, { more: { baseline: { observation_id: theirs.id } } })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const [intervention] = await clinic.p.sql('select id from clinical.intervention where patient_id = $1', [other]);
    expect(await refused(patient, { more: { intervention: { kind: 'protocol', id: intervention.id } } })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    expect(await refused(clinic.stranger(), {})).toMatchObject({ status: 404 });
  });

  test('an intervention that is not active with 409', async () => {
    const patient = await clinic.patient();
    const [{ id }] = await clinic.p.sql('select id from clinical.intervention where patient_id = $1', [patient]);
    expect((await clinic.rest('POST', `/v1/protocols/${id}/pause`)).status).toBe(200);
    await clinic.cycle(patient);
    expect((await clinic.rest('POST', `/v1/protocols/${id}/stop`, { reason: 'moved away' })).status).toBe(200);
    for (const intervention of [
      { kind: 'protocol', id },
      { kind: 'protocol', key: 'lipid_reset' },
    ])
      expect(await refused(patient, { more: { intervention } })).toMatchObject({
        status: 409,
        body: { code: 'conflict', reason: 'intervention_not_active' },
      });
  });

  test('an observation that was no draw, is of another marker, or says nothing', async () => {
    const patient = await clinic.patient();
    const manual = await clinic.lab(patient, { code: 'ldl_c', value: 150, collectedAt: T0, source: 'manual' });
    const other = await clinic.lab(patient, { code: 'apob', value: 90, collectedAt: T0 });
    const text = await clinic.lab(patient, { code: 'ldl_c', textValue: 'haemolysed', collectedAt: T0 });
    for (const { id } of [manual, other, text]) {
      const answer = await refused(patient, { more: { baseline: { observation_id: id } } });
      expect(answer.status).toBe(400);
      expect(pointers(answer)).toEqual(['/baseline/observation_id']);
    }
  });

  test('everybody but services with admin:clinical and the care team', async () => {
    const patient = await clinic.patient();
    const ask = (token: string | null) => clinic.rest('POST', '/v1/retest-cycles', clinic.cycleBody(patient), token);
    expect((await ask(null)).status).toBe(401);
    expect((await ask(await clinic.p.internalToken('cash'))).status).toBe(403);
    expect((await ask(await clinic.p.userToken(DEMO, ['read:my_outcomes', 'write:protocols']))).status).toBe(403);
    expect((await ask(await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:read'] }))).status).toBe(403);
    expect((await ask(await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:retest'] }))).status).toBe(201);
  });
});
