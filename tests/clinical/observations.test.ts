import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2 } from '../support/platform.js';
import { Clinic, day, T0 } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open();
});
afterEach(() => clinic.leave());

const added = (patient: string) =>
  clinic.p.sql(`select data from events.outbox where user_id = $1 and type = 'clinical.biomarker.added.v1' order by seq`, [patient]);
const pointers = (answer: { body: { errors: { pointer: string }[] } }) => answer.body.errors.map(error => error.pointer);

describe('POST /v1/biomarkers', () => {
  test('stores a result in the canonical code and unit, judged by the ranges of the dictionary version in force', async () => {
    const patient = clinic.stranger();
    const drawId = randomUUID();
    const row = {
      code: '13457-7',
      value: 110,
      unit: 'mg/dl',
      comparator: null,
      collected_at: T0,
      draw_id: drawId,
      source: 'lab',
      performer: 'lab_a',
      source_ref: randomUUID(),
      reference_range: { high: 130 },
      status: 'final',
    };
    const answer = await clinic.rest('POST', '/v1/biomarkers', { user_id: patient, observations: [row] });
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual([
      {
        id: expect.any(String),
        patient_id: patient,
        code: 'ldl_c',
        value: { value: 110, unit: 'mg/dl' },
        comparator: null,
        canonical_value: { value: 110, unit: 'mg/dL' },
        text_value: null,
        collected_at: T0,
        received_at: T0,
        draw_id: drawId,
        source: 'lab',
        performer: 'lab_a',
        method: null,
        report_id: null,
        reported_range: { low: null, high: 130 },
        applied_range: { reference: { low: null, high: 130 }, optimal: { low: null, high: 100 }, dictionary_version: 1 },
        range_basis: 'unqualified',
        interpretation: 'n',
        in_optimal: false,
        status: 'final',
        verification: 'verified',
        needs_review: false,
        source_ref: row.source_ref,
        supersedes: null,
      },
    ]);
    expect(await added(patient)).toEqual([
      { data: { observation_id: answer.body.data[0].id, code: 'ldl_c', source: 'lab', collected_at: T0, draw_id: drawId } },
    ]);
  });

  test.each<[string, number, string, { value: number; unit: string } | null]>([
    ['ldl_c', 4.138, 'mmol/L', { value: 160, unit: 'mg/dL' }],
    ['ldl_c', 160, 'MG/DL', { value: 160, unit: 'mg/dL' }],
    ['hba1c', 41, 'mmol/mol', { value: 5.9, unit: '%' }],
    ['vitamin_d_25oh', 75.4, 'nmol/L', { value: 30.21, unit: 'ng/mL' }],
    ['ferritin', 80, 'µg/L', { value: 80, unit: 'ng/mL' }],
    ['tsh', 2.1, 'uIU/mL', { value: 2.1, unit: 'm[IU]/L' }],
    ['creatinine', 88.4, 'umol/L', { value: 1, unit: 'mg/dL' }],
    ['potassium', 4.2, 'mEq/L', { value: 4.2, unit: 'mmol/L' }],
    ['alt', 0.5, 'ukat/L', { value: 30, unit: 'U/L' }],
  ])('converts %s of %d %s', async (code, value, unit, expected) => {
    const { body } = await clinic.post(clinic.stranger(), { code, value, unit, collectedAt: T0 });
    expect(body.data[0].canonical_value).toEqual(expected);
  });

  test.each<[string, object, string]>([
    ['a unit that is missing', { unit: undefined }, '/observations/1/unit'],
    ['a unit that is unknown', { unit: 'furlong' }, '/observations/1/unit'],
    ['a unit of another dimension', { unit: 'm[IU]/L' }, '/observations/1/unit'],
    ['a ratio for HbA1c, which UCUM would convert wrongly', { code: 'hba1c', value: 41, unit: '1' }, '/observations/1/unit'],
    ['a value of 0 without a comparator', { value: 0 }, '/observations/1/value'],
    ['a value that is not plausible', { value: 11_000 }, '/observations/1/value'],
    ['no value and no text', { value: undefined }, '/observations/1/value'],
    ['an unknown code', { code: 'unobtainium' }, '/observations/1/code'],
    ['a laboratory result without a draw', { draw_id: undefined }, '/observations/1/draw_id'],
    ['a draw in the future', { collected_at: day(1) }, '/observations/1/collected_at'],
    ['a row entered in error', { status: 'entered_in_error' }, '/observations/1/status'],
    ['an unknown source', { source: 'rumour' }, '/observations/1/source'],
  ])('refuses %s, names the row, and stores none of the batch', async (_what, change, pointer) => {
    const patient = clinic.stranger();
    const rows = [
      clinic.row({ code: 'ldl_c', value: 110, collectedAt: T0 }),
      { ...clinic.row({ code: 'ldl_c', value: 110, collectedAt: T0 }), ...change },
    ];
    const answer = await clinic.rest('POST', '/v1/biomarkers', { user_id: patient, observations: rows });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(pointers(answer)).toEqual([pointer]);
    expect(await added(patient)).toEqual([]);
  });

  test('names every row that is wrong', async () => {
    const rows = [{ value: 0 }, {}, { unit: 'x' }].map(change => ({
      ...clinic.row({ code: 'ldl_c', value: 110, collectedAt: T0 }),
      ...change,
    }));
    expect(pointers(await clinic.rest('POST', '/v1/biomarkers', { user_id: clinic.stranger(), observations: rows }))).toEqual([
      '/observations/0/value',
      '/observations/2/unit',
    ]);
  });

  test('names no value in what it refuses', async () => {
    const answer = await clinic.post(clinic.stranger(), { code: 'ldl_c', value: 98765, collectedAt: T0 });
    expect(JSON.stringify(answer.body)).not.toContain('98765');
  });

  test('takes what is not plausible when a person has confirmed it', async () => {
    const row = { ...clinic.row({ code: 'ldl_c', value: 1500, collectedAt: T0 }), confirmed: true };
    expect((await clinic.rest('POST', '/v1/biomarkers', { user_id: clinic.stranger(), observations: [row] })).status).toBe(201);
  });

  test('1 to 200 rows, and a user', async () => {
    const rows = (count: number) =>
      Array.from({ length: count }, (_, index) => clinic.row({ code: 'ldl_c', value: 100, collectedAt: day(-index) }));
    const ask = (observations: object[], user: string | undefined) =>
      clinic.rest('POST', '/v1/biomarkers', { user_id: user, observations });
    expect((await ask(rows(200), clinic.stranger())).body.data).toHaveLength(200);
    expect(pointers(await ask(rows(201), clinic.stranger()))).toEqual(['/observations']);
    expect(pointers(await ask([], clinic.stranger()))).toEqual(['/observations']);
    expect(pointers(await ask(rows(1), undefined))).toEqual(['/user_id']);
  });

  test('the same source and reference with the same content is the stored row; with other content it is a 409', async () => {
    const patient = clinic.stranger();
    const result = { code: 'ldl_c', value: 110, collectedAt: T0, drawId: randomUUID(), sourceRef: randomUUID() };
    const [first, second] = [await clinic.post(patient, result), await clinic.post(patient, result)];
    expect(second).toMatchObject({ status: 201, body: first.body });
    for (const change of [{ value: 111 }, { collectedAt: day(-1) }, { drawId: randomUUID() }, { performer: 'lab_b' }]) {
      const refused = await clinic.post(patient, { ...result, ...change });
      expect(refused).toMatchObject({ status: 409, body: { code: 'conflict', reason: 'source_ref_taken' } });
      expect(pointers(refused)).toEqual(['/observations/0/source_ref']);
    }
    expect(await clinic.post(clinic.stranger(), result)).toMatchObject({ status: 409 });
    expect(await added(patient)).toHaveLength(1);
  });

  test('twice in one batch, or ten times at once, is one row and one event', async () => {
    const patient = clinic.stranger();
    const result = { code: 'ldl_c', value: 110, collectedAt: T0, drawId: randomUUID(), sourceRef: randomUUID() };
    const answers = await Promise.all(Array.from({ length: 10 }, () => clinic.post(patient, result, result)));
    expect(new Set(answers.flatMap(answer => answer.body.data.map((row: any) => row.id))).size).toBe(1);
    expect(await added(patient)).toHaveLength(1);
  });

  test('the same result of a draw under another reference is the stored row', async () => {
    const patient = clinic.stranger();
    const result = { code: 'ldl_c', value: 110, collectedAt: T0, drawId: randomUUID() };
    const [first, second] = [await clinic.post(patient, result), await clinic.post(patient, result)];
    expect(second.body.data[0].id).toBe(first.body.data[0].id);
  });

  test('another value of the same draw by the same laboratory is kept, and both wait for a person', async () => {
    const patient = clinic.stranger();
    const result = { code: 'ldl_c', value: 110, collectedAt: T0, drawId: randomUUID() };
    const first = (await clinic.post(patient, result)).body.data[0];
    const second = (await clinic.post(patient, { ...result, value: 180 })).body.data[0];
    expect(second).toMatchObject({ needs_review: true });
    expect((await clinic.rest('GET', `/v1/biomarkers/${first.id}`)).body).toMatchObject({ needs_review: true, value: { value: 110 } });
    expect((await clinic.post(patient, { ...result, value: 180, performer: 'lab_b' })).body.data[0]).toMatchObject({ needs_review: false });
  });

  test('a repeated Idempotency-Key reads the rows again instead of keeping their values a second time', async () => {
    const body = {
      user_id: clinic.stranger(),
      observations: [clinic.row({ code: 'ldl_c', value: 110, collectedAt: T0 }), clinic.row({ code: 'tsh', value: 2, collectedAt: T0 })],
    };
    const ask = () =>
      clinic.p.rest('POST', '/clinical/v1/biomarkers', { token: clinic.token, body, headers: { 'idempotency-key': body.user_id } });
    const [first, second] = [await ask(), await ask()];
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(await clinic.p.sql('select answer from clinical.idempotency_key where key = $1', [body.user_id])).toEqual([{ answer: null }]);
  });

  test('is for services with admin:clinical and for patient-graph', async () => {
    const body = () => ({ user_id: clinic.stranger(), observations: [clinic.row({ code: 'ldl_c', value: 110, collectedAt: T0 })] });
    expect((await clinic.rest('POST', '/v1/biomarkers', body(), null)).status).toBe(401);
    expect((await clinic.rest('POST', '/v1/biomarkers', body(), await clinic.p.userToken(DEMO, ['write:biomarkers']))).status).toBe(403);
    expect((await clinic.rest('POST', '/v1/biomarkers', body(), await clinic.p.internalToken('comms'))).status).toBe(403);
    const imported = await clinic.rest('POST', '/v1/biomarkers', body(), await clinic.p.internalToken('patient-graph'));
    expect(imported).toMatchObject({
      status: 201,
      body: { data: [{ code: 'ldl_c', value: null, canonical_value: null, applied_range: null, in_optimal: null }] },
    });
  });
});

describe('interpretation', () => {
  test.each<[string, number, 'lt' | 'gt' | undefined, string | null, boolean | null]>([
    ['potassium', 6.6, undefined, 'hh', false],
    ['potassium', 6.2, undefined, 'h', false],
    ['potassium', 6.21, undefined, 'hh', false],
    ['potassium', 2.7, undefined, 'll', false],
    ['potassium', 3.4, undefined, 'l', false],
    ['potassium', 3.5, undefined, 'n', false],
    ['potassium', 4.2, undefined, 'n', true],
    ['hs_crp', 0.3, 'lt', 'n', true],
    ['hs_crp', 5, 'lt', null, null],
    ['hs_crp', 5, 'gt', 'h', false],
  ])('of %s %d %s is %s, in the optimal range: %s', async (code, value, comparator, interpretation, inOptimal) => {
    const { body } = await clinic.post(clinic.stranger(), { code, value, comparator, collectedAt: T0 });
    expect(body.data[0]).toMatchObject({ interpretation, in_optimal: inOptimal, range_basis: 'unqualified' });
  });

  test('without a range that fits everybody there is none', async () => {
    const { body } = await clinic.post(clinic.stranger(), { code: 'testosterone_total', value: 500, unit: 'ng/dL', collectedAt: T0 });
    expect(body.data[0]).toMatchObject({
      interpretation: null,
      in_optimal: null,
      range_basis: 'none',
      applied_range: { reference: null, optimal: null, dictionary_version: 1 },
    });
  });
});

describe('reading results', () => {
  test('newest draw first, page by page, filtered by code, time, source and reference', async () => {
    const patient = clinic.stranger();
    const refs = Array.from({ length: 5 }, () => randomUUID());
    for (const [index, sourceRef] of refs.entries())
      await clinic.post(patient, { code: index % 2 ? 'apob' : 'ldl_c', value: 100 + index, collectedAt: day(-index), sourceRef });
    const list = async (query: string) => (await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}&${query}`)).body;
    const times = (page: any) => page.data.map((row: any) => row.collected_at);
    const first = await list('limit=3');
    const second = await list(`limit=3&cursor=${first.next_cursor}`);
    expect([...times(first), ...times(second)]).toEqual([0, -1, -2, -3, -4].map(at => day(at)));
    expect(second.next_cursor).toBeNull();
    expect(times(await list('codes=1884-6'))).toEqual([day(-1), day(-3)]);
    expect(times(await list(`from=${day(-3)}&to=${day(-1)}`))).toEqual([day(-1), day(-2), day(-3)]);
    expect(times(await list('latest=true'))).toEqual([day(0), day(-1)]);
    expect(times(await list(`source_refs=${refs[1]},${refs[4]}`))).toEqual([day(-1), day(-4)]);
    expect(times(await list('source=manual'))).toEqual([]);
    expect(times(await list('codes=none_such'))).toEqual([]);
  });

  test('the latest of each code is the newest of those that the other filters leave', async () => {
    const patient = clinic.stranger();
    for (const [days, code, source] of [
      [0, 'ldl_c', 'manual'],
      [-1, 'ldl_c', 'lab'],
      [-2, 'ldl_c', 'lab'],
      [-3, 'apob', 'lab'],
      [-1, 'apob', 'wearable'],
    ] as const)
      await clinic.post(patient, { code, source, value: 100, collectedAt: day(days) });
    const latest = async (query: string) =>
      (await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}&latest=true${query}`)).body.data.map((row: any) => [
        row.code,
        row.collected_at,
      ]);
    expect(await latest('')).toEqual([
      ['ldl_c', day(0)],
      ['apob', day(-1)],
    ]);
    expect(await latest('&source=lab')).toEqual([
      ['ldl_c', day(-1)],
      ['apob', day(-3)],
    ]);
    expect(await latest(`&to=${day(-2)}`)).toEqual([
      ['ldl_c', day(-2)],
      ['apob', day(-3)],
    ]);
    expect(await latest('&codes=ldl_c&source=lab')).toEqual([['ldl_c', day(-1)]]);
  });

  test('in the unit system that was asked for', async () => {
    const patient = clinic.stranger();
    await clinic.post(
      patient,
      { code: 'ldl_c', value: 160, collectedAt: T0 },
      { code: 'hba1c', value: 41, unit: 'mmol/mol', collectedAt: day(-1) },
      { code: 'tsh', value: 2, collectedAt: day(-2) },
    );
    const values = async (query: string) =>
      (await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}${query}`)).body.data.map((row: any) => row.value);
    expect(await values('')).toEqual([
      { value: 160, unit: 'mg/dL' },
      { value: 41, unit: 'mmol/mol' },
      { value: 2, unit: 'm[IU]/L' },
    ]);
    expect(await values('&unit_system=si')).toEqual([
      { value: 4.14, unit: 'mmol/L' },
      { value: 41, unit: 'mmol/mol' },
      { value: 2, unit: 'm[IU]/L' },
    ]);
    expect(await values('&unit_system=conventional')).toEqual([
      { value: 160, unit: 'mg/dL' },
      { value: 5.9, unit: '%' },
      { value: 2, unit: 'u[IU]/mL' },
    ]);
  });

  test('is for the owner with read:biomarkers, services and the care team; another user finds nothing', async () => {
    await clinic.post(DEMO, { code: 'ldl_c', value: 123, collectedAt: T0 });
    const [{ id }] = await clinic.p.sql('select id from clinical.observation where patient_id = $1', [DEMO]);
    const [owner, other, blind] = [
      await clinic.p.userToken(DEMO, ['read:biomarkers']),
      await clinic.p.userToken(DEMO2, ['read:biomarkers']),
      await clinic.p.userToken(DEMO, ['read:clinical']),
    ];
    const staff = await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:read'] });
    const one = (token: string) => clinic.rest('GET', `/v1/biomarkers/${id}`, undefined, token);
    expect(await one(owner)).toMatchObject({ status: 200, body: { value: { value: 123 } } });
    expect(await one(staff)).toMatchObject({ status: 200, body: { value: { value: 123 } } });
    expect((await one(other)).status).toBe(404);
    expect((await one(blind)).status).toBe(403);
    expect((await clinic.rest('GET', `/v1/biomarkers/${randomUUID()}`, undefined, owner)).status).toBe(404);
    expect((await clinic.rest('GET', '/v1/biomarkers/me', undefined, owner)).body.data).toHaveLength(1);
    expect((await clinic.rest('GET', '/v1/biomarkers/me', undefined, other)).body.data).toEqual([]);
    expect((await clinic.rest('GET', '/v1/biomarkers/me')).status).toBe(403);
    expect((await clinic.rest('GET', `/v1/biomarkers?user_id=${DEMO}`, undefined, other)).status).toBe(403);
    expect(pointers(await clinic.rest('GET', '/v1/biomarkers'))).toEqual(['/user_id']);
    await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
  });
});

describe('POST /v1/biomarkers/me', () => {
  test('stores an own result of source manual, unverified', async () => {
    const token = await clinic.p.userToken(DEMO, ['read:biomarkers', 'write:biomarkers']);
    const answer = await clinic.rest('POST', '/v1/biomarkers/me', { code: 'ldl_c', value: 3.5, unit: 'mmol/L', collected_at: T0 }, token);
    expect(answer).toMatchObject({
      status: 201,
      body: {
        patient_id: DEMO,
        source: 'manual',
        verification: 'unverified',
        draw_id: null,
        canonical_value: { value: 135.3, unit: 'mg/dL' },
      },
    });
    expect(answer.headers.location).toContain(`/v1/biomarkers/${answer.body.id}`);
    expect((await added(DEMO)).at(-1)).toEqual({
      data: { observation_id: answer.body.id, code: 'ldl_c', source: 'manual', collected_at: T0, draw_id: null },
    });
    expect(
      (
        await clinic.rest(
          'POST',
          '/v1/biomarkers/me',
          { code: 'ldl_c', value: 3.5, unit: 'mmol/L', collected_at: T0, user_id: DEMO2 },
          token,
        )
      ).status,
    ).toBe(400);
    await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
  });

  test('shows values only to a token that may read them', async () => {
    const token = await clinic.p.userToken(DEMO, ['write:biomarkers']);
    const answer = await clinic.rest('POST', '/v1/biomarkers/me', { code: 'ldl_c', value: 3.5, unit: 'mmol/L', collected_at: T0 }, token);
    expect(answer).toMatchObject({ status: 201, body: { code: 'ldl_c', value: null, canonical_value: null } });
    await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
  });
});
