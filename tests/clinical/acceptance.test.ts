/** The acceptance cases of the contract, section 10, by their numbers and in the order of one clock, which only goes forward. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, CYCLE_FLAG, type CycleOptions, day, PROMPT_FLAG, type Result, T0 } from './clinic.js';
import { pdfOf } from './pdf.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open();
});

const get = (path: string, token?: string | null) => clinic.rest('GET', path, undefined, token);
const member = (scopes: string[], id = DEMO) => clinic.p.userToken(id, scopes);
const erase = (patient: string) => clinic.rest('POST', '/v1/admin/erasure', { patient_id: patient });
const now = async (): Promise<string> => (await clinic.p.sql('select now from clinical.test_clock'))[0].now.toISOString();
/** A cycle that is due now. */
const dueCycle = async (patient: string) => clinic.cycle(patient, { collectedAt: day(-90, await now()), drawId: randomUUID() });

describe('on the day of the draw', () => {
  test('18. nothing closed: retest_rate null, 200', async () => {
    expect(await get('/v1/retest-cycles/stats')).toMatchObject({ status: 200, body: { retest_rate: null, closed: 0 } });
  });

  test('1. both flags off, POST retest-cycles: 403 forbidden; nothing stored, no event', async () => {
    const patient = await clinic.patient();
    await clinic.flag(CYCLE_FLAG, null);
    const refused = await clinic.rest('POST', '/v1/retest-cycles', clinic.cycleBody(patient));
    await clinic.flag(CYCLE_FLAG, true);
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await get(`/v1/retest-cycles?patient_id=${patient}`)).body.data).toEqual([]);
    expect((await get(`/v1/biomarkers?user_id=${patient}`)).body.data).toEqual([]);
    expect(await clinic.events(patient)).toEqual([]);
  });

  test('2., 3. POST: 201 with its dates and an event without a value; again, with another window or ten at once: 200, the same one', async () => {
    const patient = await clinic.patient();
    const body = clinic.cycleBody(patient);
    const post = (more: object = {}) => clinic.rest('POST', '/v1/retest-cycles', { ...body, ...more });
    const all = await Promise.all(Array.from({ length: 10 }, () => post()));
    expect(all.map(one => one.status).toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 9 }, () => 200), 201]);
    const { id } = all[0]!.body;
    for (const one of [...all, await post(), await post({ window_days: 60 })])
      expect(one.body).toMatchObject({
        id,
        window_days: 90,
        retest_due_at: '2026-10-30T08:00:00.000Z',
        expires_at: '2026-11-29T08:00:00.000Z',
      });
    const [event, ...more] = await clinic.events(patient);
    expect(event).toMatchObject({ type: 'clinical.retest.cycle_started.v1', data: { window_days: 90 } });
    expect(Object.keys(event!.data).sort()).toEqual(['code', 'due_at', 'protocol', 'started_at', 'window_days']);
    expect(more).toEqual([]);
  });

  test('21. potassium 6.6: hh, a panic alert to be acknowledged in an hour, an event; the member does not see it before', async () => {
    const [row] = (await clinic.post(DEMO, { code: 'potassium', value: 6.6, collectedAt: T0 })).body.data;
    expect(row.interpretation).toBe('hh');
    const [alert] = (await get(`/v1/critical-alerts?observation_id=${row.id}`)).body.data;
    expect(alert).toMatchObject({ severity: 'panic', acknowledge_by: '2026-08-01T09:00:00.000Z' });
    const told = await clinic.p.sql(
      `select data from events.outbox where type = 'clinical.lab_result.critical.v1' and data->>'alert_id' = $1`,
      [alert.id],
    );
    expect(told).toMatchObject([{ data: { severity: 'panic' } }]);
    const mine = async () => (await get('/v1/biomarkers/me', await member(['read:biomarkers']))).body.data;
    expect(await mine()).toEqual([]);
    await clinic.rest('POST', `/v1/critical-alerts/${alert.id}/acknowledge`, {});
    expect(await mine()).toMatchObject([{ id: row.id, value: { value: 6.6 } }]);
    await erase(DEMO); // with it the flag, which would stop the protocol of a later case
  });

  const TWELVE = [
    'LDL Cholesterol 110 mg/dL',
    'HDL Cholesterol 55 mg/dL',
    'Triglycerides 120 mg/dL',
    'Apolipoprotein B 85 mg/dL',
    'Hemoglobin A1c 5.4 %',
    'Glucose, fasting 88 mg/dL',
    'hs-CRP <0.3 mg/L',
    'Vitamin D, 25-Hydroxy 41 ng/mL',
    'Ferritin 80',
    'TSH 2.1 mIU/L',
    'ALT (SGPT) 22 U/L',
    'Potassium 4.2 mmol/L',
  ];

  test('22., 23. a PDF with 12 rows, one without unit: 11 accepted, reviewed to 12 and told once; to another member there is none of it', async () => {
    const patient = clinic.stranger();
    const file = pdfOf(['Collected: 2026-07-30 08:15', ...TWELVE]).toString('base64');
    const sent = await clinic.rest('POST', '/v1/bloodwork', { user_id: patient, file });
    expect(sent.status).toBe(202);
    const path = `/v1/bloodwork/${sent.body.id}`;
    const read = await until(
      'the report',
      () => get(path),
      ({ body }) => body.status === 'needs_review',
    );
    expect(read.body.counts).toMatchObject({ rows: 12, accepted: 11, open: 1 });
    const rows = [{ position: 8, decision: 'accept', unit: 'ng/mL' }];
    expect(await clinic.rest('POST', `${path}/review`, { rows })).toMatchObject({ status: 200, body: { status: 'parsed' } });
    const stored = (await get(`/v1/biomarkers?user_id=${patient}`)).body.data;
    expect(stored).toHaveLength(12);
    const parsed = await clinic.p.sql(`select data from events.outbox where type = 'clinical.biomarker.parsed.v1' and user_id = $1`, [
      patient,
    ]);
    expect(parsed).toMatchObject([{ data: { count: 12 } }]);
    const cycle = await clinic.cycle(await clinic.patient());
    const other = await member(['read:biomarkers', 'read:my_outcomes', 'read:lab_results'], DEMO2);
    for (const one of [path, `${path}/file`, `/v1/biomarkers/${stored[0].id}`, `/v1/retest-cycles/${cycle.id}`])
      expect((await get(one, other)).status).toBe(404);
  });
});

describe('when the re-test is due', () => {
  let early: { patient: string; cycle: any };
  let nudged: { patient: string; cycle: any };
  let expiring: { patient: string; cycle: any }[];

  /** Cycles of T0, and three months on. */
  beforeAll(async () => {
    const made = async () => {
      const patient = await clinic.patient();
      return { patient, cycle: await clinic.cycle(patient, { drawId: randomUUID() }) };
    };
    [early, nudged, ...expiring] = [await made(), await made(), await made(), await made()];
    await clinic.flag(PROMPT_FLAG, true, { user_id: nudged.patient });
    await clinic.clock(day(91));
  }, 240_000);

  test('4. prompt flag off, sweeps: baseline_set, prompt_count 0, no event, skipped_flag at least 1', async () => {
    expect((await clinic.sweep()).skipped_flag).toBeGreaterThanOrEqual(1);
    expect(await clinic.read(early.cycle.id)).toMatchObject({ status: 'baseline_set', prompt_count: 0 });
    expect(await clinic.eventTypes(early.patient)).toEqual(['cycle_started']);
  });

  test('7. prompt flag on for A only: A prompted with an event, C unchanged', async () => {
    const [a, c] = [await clinic.patient(), await clinic.patient()];
    const cycles = [await dueCycle(a), await dueCycle(c)];
    await clinic.flag(PROMPT_FLAG, true, { user_id: a });
    await clinic.sweep();
    expect(await clinic.read(cycles[0].id)).toMatchObject({ status: 'prompted', prompt_count: 1 });
    expect(await clinic.eventTypes(a)).toEqual(['cycle_started', 'prompted']);
    expect(await clinic.read(cycles[1].id)).toEqual(cycles[1]);
  });

  test('9. flag source !error: no prompt, 200, skipped_flag', async () => {
    const cycle = await dueCycle(await clinic.patient());
    await clinic.flag(PROMPT_FLAG, '!error');
    const run = await clinic.sweep();
    await clinic.flag(PROMPT_FLAG, null);
    expect([run.prompted, run.skipped_flag > 0]).toEqual([0, true]);
    expect(await clinic.read(cycle.id)).toEqual(cycle);
  });

  test('10. three due cycles, a fault on the second: 2 prompted, failed 1; then 1 prompted', async () => {
    const patients = [await clinic.patient(), await clinic.patient(), await clinic.patient()];
    const cycles = await Promise.all(patients.map(dueCycle));
    for (const patient of patients) await clinic.flag(PROMPT_FLAG, true, { user_id: patient });
    await clinic.fault('retest.sweep.cycle', cycles[1].id, 1);
    expect(await clinic.sweep()).toMatchObject({ prompted: 2, failed: 1 });
    expect(await clinic.sweep()).toMatchObject({ prompted: 1, failed: 0 });
  });

  test('5. ldl 130 at day 95: retested directly, delta -30, improved, days 95, organic; an event of 3 keys', async () => {
    await clinic.clock(day(95.5));
    await clinic.lab(early.patient, { code: 'ldl_c', value: 130, collectedAt: day(95) });
    const expected = { status: 'retested', delta: -30, outcome_direction: 'improved', days_to_retest: 95, organic: true };
    expect(await clinic.read(early.cycle.id)).toMatchObject(expected);
    expect((await clinic.events(early.patient)).at(-1)).toMatchObject({
      type: 'clinical.retest.recorded.v1',
      data: { code: 'ldl_c', direction: 'improved', days_to_retest: 95 },
    });
  });

  test('8., 11. prompts on days 90, 104, 118, then expired, once; a lab at expiresAt counts, 1 ms later it does not', async () => {
    const [inTime, late] = expiring as [typeof early, typeof early];
    const expiry = Date.parse(inTime.cycle.expires_at);
    await clinic.clock(new Date(expiry - 60_000).toISOString());
    const at = (ms: number): Partial<Result> => ({ value: 110, collectedAt: new Date(expiry + ms).toISOString() });
    for (const [one, ms] of [
      [inTime, 0],
      [late, 1],
    ] as const)
      await clinic.lab(one.patient, { code: 'ldl_c', ...at(ms) } as Result);
    await clinic.clock(day(121));
    expect(await clinic.read(inTime.cycle.id)).toMatchObject({ status: 'retested' });
    expect(await clinic.read(late.cycle.id)).toMatchObject({ status: 'expired' });
    expect(await clinic.read(nudged.cycle.id)).toMatchObject({ status: 'expired', prompt_count: 3 });
    const [, ...told] = await clinic.events(nudged.patient);
    const days = told.map(({ type, data }) => [
      type.split('.')[2],
      Math.floor((Date.parse(data.prompted_at ?? data.expired_at) - Date.parse(T0)) / 86_400_000),
    ]);
    expect(days).toEqual([
      ['prompted', 90],
      ['prompted', 104],
      ['prompted', 118],
      ['expired', 120],
    ]);
  }, 240_000);
});

describe('what came of it', () => {
  const CASES: [number, string, CycleOptions, Partial<Result>, object][] = [
    [6, 'ldl 160, 131', {}, { value: 131 }, { outcome_direction: 'unchanged', outcome_basis: 'within_noise' }],
    [6, 'ldl 160, 130.3', {}, { value: 130.3 }, { outcome_direction: 'improved' }],
    [12, 'tsh 6.0, 0.35', { code: 'tsh', value: 6 }, { value: 0.35 }, { outcome_direction: 'improved', crossed_target: true }],
    [12, 'tsh 6.0, 0.20', { code: 'tsh', value: 6 }, { value: 0.2 }, { outcome_direction: 'worsened' }],
    [12, 'tsh 2.0, 1.2', { code: 'tsh', value: 2 }, { value: 1.2 }, { outcome_direction: 'unchanged', outcome_basis: 'inside_target' }],
    [13, 'vitamin D 24, 30', { code: 'vitamin_d_25oh', value: 24 }, { value: 30 }, { outcome_direction: 'unchanged' }],
    [13, 'vitamin D 24, 30.2', { code: 'vitamin_d_25oh', value: 24 }, { value: 30.2 }, { outcome_direction: 'improved' }],
    [
      13,
      'vitamin D 24, 75.4 nmol/L',
      { code: 'vitamin_d_25oh', value: 24 },
      { value: 75.4, unit: 'nmol/L' },
      { outcome_direction: 'improved', follow_up_value: { value: 30.21, unit: 'ng/mL' } },
    ],
    [
      14,
      'hba1c 6.4 %, 41 mmol/mol',
      { code: 'hba1c', value: 6.4 },
      { value: 41, unit: 'mmol/mol' },
      { outcome_direction: 'improved', delta: -0.5, follow_up_value: { value: 5.9, unit: '%' } },
    ],
    [
      15,
      'hs_crp 2.0, <0.3',
      { code: 'hs_crp', value: 2 },
      { value: 0.3, comparator: 'lt' },
      { outcome_direction: 'improved', outcome_basis: 'censored', delta: null },
    ],
    [
      15,
      'hs_crp 0.4, <0.3',
      { code: 'hs_crp', value: 0.4 },
      { value: 0.3, comparator: 'lt' },
      { outcome_direction: 'unchanged', outcome_basis: 'censored' },
    ],
    [16, 'a manual follow-up', {}, { value: 100, source: 'manual' }, { status: 'baseline_set' }],
    [16, "a wearable's", {}, { value: 100, source: 'wearable' }, { status: 'baseline_set' }],
    [16, 'one earlier than the baseline', {}, { value: 100, collectedAt: day(-1) }, { status: 'baseline_set' }],
  ];

  test.each(CASES)('%d. %s', async (_number, _what, baseline, followUp, expected) => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient, { collectedAt: day(1), ...baseline });
    await clinic.lab(patient, { code: cycle.code, collectedAt: day(95), ...followUp });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'retested', ...expected });
  });

  test('16. a follow-up of the same draw: the cycle stays open', async () => {
    const [patient, drawId] = [await clinic.patient(), randomUUID()];
    const cycle = await clinic.cycle(patient, { collectedAt: day(1), drawId });
    await clinic.lab(patient, { code: 'ldl_c', value: 100, collectedAt: day(95), drawId, performer: 'lab_b' });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'baseline_set' });
  });

  test('17. 6 retested, 3 expired, 4 + 2 open: rate 0.6667; with a code 403, without the scope 403', async () => {
    const brand = randomUUID();
    const made = async (collectedAt: string) => {
      const patient = await clinic.patient();
      await clinic.cycle(patient, { collectedAt, drawId: randomUUID(), more: { brand_id: brand } });
      return patient;
    };
    for (let at = 0; at < 6; at++) await clinic.lab(await made(day(10)), { code: 'ldl_c', value: 110, collectedAt: day(100) });
    for (let at = 0; at < 2; at++) await clinic.flag(PROMPT_FLAG, true, { user_id: await made(day(20)) });
    for (let at = 0; at < 3; at++) await made(day(-10));
    await clinic.sweep();
    for (let at = 0; at < 4; at++) await made(day(100));
    const counts = { baseline_set: 4, prompted: 2, retested: 6, expired: 3 };
    expect((await get(`/v1/retest-cycles/stats?brand_id=${brand}`)).body).toMatchObject({ retest_rate: 0.6667, counts });
    const token = await member(['read:clinical']);
    expect((await get('/v1/retest-cycles/stats', token)).status).toBe(200);
    expect((await get('/v1/retest-cycles/stats?code=ldl_c', token)).status).toBe(403);
    expect((await get('/v1/retest-cycles/stats', await member(['read:my_outcomes']))).status).toBe(403);
  });

  test('19. the re-test handler is down: 201, and once it is back the cycle is recorded once', async () => {
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient, { collectedAt: day(1) });
    await clinic.fault('retest.handler', null, 2);
    expect((await clinic.post(patient, { code: 'ldl_c', value: 110, collectedAt: day(95) })).status).toBe(201);
    await until(
      'the record',
      () => clinic.read(cycle.id),
      ({ status }) => status === 'retested',
    );
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started', 'recorded']);
  });

  test('24., 20. without read:biomarkers a direction and no value; after an erasure nothing but counts', async () => {
    await clinic.rest('POST', '/v1/protocols', { user_id: DEMO, kind: 'protocol', key: 'lipid_reset' });
    const cycle = await clinic.cycle(DEMO, { collectedAt: day(1) });
    await clinic.lab(DEMO, { code: 'ldl_c', value: 110, collectedAt: day(95) });
    const [mine] = (await get('/v1/retest-cycles/me', await member(['read:my_outcomes']))).body.data;
    expect(mine).toMatchObject({ outcome_direction: 'improved', baseline_value: null, follow_up_value: null, delta: null });
    const closed = async () => (await get('/v1/retest-cycles/stats')).body.closed as number;
    const before = await closed();
    expect((await erase(DEMO)).status).toBe(200);
    expect(await closed()).toBe(before - 1);
    for (const path of [`/v1/retest-cycles/${cycle.id}`, `/v1/biomarkers/${cycle.baseline_observation_id}`])
      expect((await get(path)).status).toBe(404);
    const [audit] = await clinic.p.sql(`select details from clinical.audit_log where action = 'user.erased' and target = $1`, [DEMO]);
    expect(Object.values(audit.details.records).every(count => typeof count === 'number')).toBe(true);
  });

  test('25. as platform_ro: no value, unit, delta or target in the safe view, and the table is denied', async () => {
    const asReader = (statement: string) => clinic.p.sql(`set local role platform_ro; ${statement}`);
    await asReader('select id, status from clinical.retest_cycles_safe');
    for (const column of ['baseline_value', 'follow_up_value', 'unit', 'delta', 'delta_percent', 'target_low', 'target_high'])
      await expect(asReader(`select ${column} from clinical.retest_cycles_safe`)).rejects.toThrow(/does not exist/);
    await expect(asReader('select 1 from clinical.retest_cycle')).rejects.toThrow(/permission denied/);
  });
});
