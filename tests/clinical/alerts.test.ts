import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CriticalAlertStatus } from '../../subgraphs/clinical/entities/critical-alert.js';
import { RedFlagStatus } from '../../subgraphs/clinical/entities/red-flag.js';
import { CRITICAL_ALERT_STATES } from '../../subgraphs/clinical/rules/critical-alert.js';
import { fires, markersOf, RED_FLAG_STATES } from '../../subgraphs/clinical/rules/red-flag.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { Clinic, day, T0 } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open();
});
afterEach(async () => {
  await clinic.leave();
  await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
});

const HOUR = 3_600_000;
const now = async (): Promise<string> => (await clinic.p.sql('select now from clinical.test_clock'))[0].now.toISOString();
const after = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
const eventsOf = (patient: string, type: string) =>
  clinic.p.sql<{ data: any }>(`select data from events.outbox where user_id = $1 and type = $2 order by seq`, [patient, type]);
const alertOf = async (patient: string) => (await clinic.rest('GET', `/v1/critical-alerts?user_id=${patient}`)).body.data[0];
const act = (id: string, action: string, body: object = {}) => clinic.rest('POST', `/v1/critical-alerts/${id}/${action}`, body);
const member = (scopes = ['read:biomarkers', 'read:my_outcomes', 'read:red_flags'], id = DEMO) => clinic.p.userToken(id, scopes);
const mine = async (path: string) => (await clinic.rest('GET', path, undefined, await member())).body.data;

async function panic(patient: string): Promise<any> {
  const at = await now();
  return (await clinic.post(patient, { code: 'potassium', value: 6.6, collectedAt: at })).body.data[0];
}

describe('a critical result', () => {
  test('beyond the panic limit raises an alert and tells of it without the value; an hour to acknowledge', async () => {
    const at = await now();
    const patient = clinic.stranger();
    const row = await panic(patient);
    expect(row.interpretation).toBe('hh');
    const alert = await alertOf(patient);
    expect(alert).toMatchObject({ severity: 'panic', status: 'open', observation_id: row.id, code: 'potassium', contacts: [] });
    expect(alert.acknowledge_by).toBe(after(at, HOUR));
    expect(await eventsOf(patient, 'clinical.lab_result.critical.v1')).toEqual([
      { data: { alert_id: alert.id, observation_id: row.id, code: 'potassium', severity: 'panic', acknowledge_by: after(at, HOUR) } },
    ]);
  });

  test.each([
    [6.2, null],
    [6.3, 'critical'],
    [6.5, 'critical'],
    [6.6, 'panic'],
    [2.8, null],
    [2.7, 'critical'],
    [2.4, 'panic'],
  ])('potassium of %d raises %s', async (value, severity) => {
    const patient = clinic.stranger();
    await clinic.post(patient, { code: 'potassium', value, collectedAt: await now() });
    expect((await alertOf(patient))?.severity ?? null).toBe(severity);
  });

  test('is judged for lab and partner results that are final; not for what a member or a device says, nor for preliminary ones', async () => {
    const at = await now();
    for (const [source, status, raised] of [
      ['lab', 'final', true],
      ['partner', 'final', true],
      ['lab', 'preliminary', false],
      ['wearable', 'final', false],
      ['manual', 'final', false],
    ] as const) {
      const patient = clinic.stranger();
      await clinic.post(patient, { code: 'potassium', value: 6.6, collectedAt: at, source, status });
      expect([source, status, (await alertOf(patient)) !== undefined]).toEqual([source, status, raised]);
    }
  });

  test('that is imported raises an alert only while its draw is at most 7 days old', async () => {
    const token = await clinic.p.internalToken('patient-graph');
    const at = await now();
    for (const [days, raised] of [
      [7, true],
      [7.1, false],
    ] as const) {
      const patient = clinic.stranger();
      const row = clinic.row({ code: 'potassium', value: 6.6, collectedAt: after(at, -days * 24 * HOUR) });
      expect((await clinic.rest('POST', '/v1/biomarkers', { user_id: patient, observations: [row] }, token)).status).toBe(201);
      expect((await alertOf(patient)) !== undefined).toBe(raised);
    }
  });

  test('is hidden from the member until it is acknowledged, in results, cycles and by id; the care team sees it at once', async () => {
    await clinic.rest('POST', '/v1/protocols', { user_id: DEMO, kind: 'stack', key: 'minerals' });
    const at = await now();
    const row = await panic(DEMO);
    const cycle = await clinic.rest('POST', '/v1/retest-cycles', {
      patient_id: DEMO,
      code: 'potassium',
      baseline: { observation_id: row.id },
      intervention: { kind: 'stack', key: 'minerals' },
    });
    expect(cycle).toMatchObject({ status: 201, body: { baseline_value: { value: 6.6 }, baseline_collected_at: at } });
    expect(await mine('/v1/biomarkers/me')).toEqual([]);
    expect(await mine('/v1/biomarkers/me?latest=true')).toEqual([]);
    expect((await clinic.rest('GET', '/v1/biomarkers/me/trends/potassium', undefined, await member())).body.points).toEqual([]);
    expect((await clinic.rest('GET', `/v1/biomarkers/${row.id}`, undefined, await member())).status).toBe(404);
    expect(await mine('/v1/retest-cycles/me')).toMatchObject([{ code: 'potassium', baseline_value: null }]);
    expect((await clinic.rest('GET', `/v1/biomarkers?user_id=${DEMO}`)).body.data).toHaveLength(1);
    expect(await act((await alertOf(DEMO)).id, 'acknowledge')).toMatchObject({ status: 200, body: { status: 'acknowledged' } });
    expect(await mine('/v1/biomarkers/me')).toMatchObject([{ value: { value: 6.6 } }]);
    expect(await mine('/v1/retest-cycles/me')).toMatchObject([{ baseline_value: { value: 6.6 } }]);
  });

  test('that nobody acknowledges is shown after 24 h, and its alert is escalated after an hour, told again', async () => {
    const at = await now();
    await panic(DEMO);
    await clinic.clock(after(at, HOUR - 1));
    expect(await alertOf(DEMO)).toMatchObject({ status: 'open' });
    await clinic.clock(after(at, HOUR));
    const alert = await alertOf(DEMO);
    expect(alert).toMatchObject({ status: 'escalated' });
    const told = (await eventsOf(DEMO, 'clinical.lab_result.critical.v1')).filter(one => one.data.alert_id === alert.id);
    expect(told).toHaveLength(2);
    expect(told[1]).toEqual(told[0]);
    await clinic.clock(after(at, 24 * HOUR - 1));
    expect(await mine('/v1/biomarkers/me')).toEqual([]);
    await clinic.clock(after(at, 24 * HOUR));
    expect(await mine('/v1/biomarkers/me')).toHaveLength(1);
    expect(await act(alert.id, 'acknowledge')).toMatchObject({ status: 200, body: { status: 'acknowledged' } });
  });

  test('is acknowledged, contacted about and closed with a reason, in this order', async () => {
    const patient = clinic.stranger();
    await panic(patient);
    const { id } = await alertOf(patient);
    expect(await act(id, 'close', { reason: 'repeated' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await act(id, 'contact', { outcome: 'no_answer' })).body.contacts).toMatchObject([
      { outcome: 'no_answer', by: 'service:demo-m2m' },
    ]);
    expect((await act(id, 'acknowledge')).status).toBe(200);
    expect((await act(id, 'acknowledge')).status).toBe(409);
    expect((await act(id, 'contact', { outcome: 'reached' })).body.contacts).toHaveLength(2);
    expect(await act(id, 'close', {})).toMatchObject({ status: 400, body: { errors: [{ pointer: '/reason' }] } });
    expect((await act(id, 'close', { reason: 'repeated test was normal' })).body).toMatchObject({
      status: 'closed',
      closed_reason: 'repeated test was normal',
    });
    for (const action of ['acknowledge', 'contact', 'close'])
      expect((await act(id, action, { contact: { outcome: 'reached' }, close: { reason: 'x' } }[action] ?? {})).status).toBe(409);
    expect((await act(randomUUID(), 'acknowledge')).status).toBe(404);
  });

  test('has alerts for the care team and workflow, never for a user token', async () => {
    const patient = clinic.stranger();
    await panic(patient);
    const list = (token: string) => clinic.rest('GET', `/v1/critical-alerts?user_id=${patient}&status=open`, undefined, token);
    expect((await list(await clinic.p.internalToken('workflow'))).body.data).toHaveLength(1);
    expect((await list(await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:alerts'] }))).body.data).toHaveLength(1);
    expect((await list(await member())).status).toBe(403);
    expect((await list(await clinic.p.internalToken('comms'))).status).toBe(403);
  });

  test.each(Object.values(CriticalAlertStatus))('the table of alerts says what leads out of %s', status => {
    const expected = {
      open: { acknowledge: 'acknowledged', escalate: 'escalated', contact: 'open' },
      escalated: { acknowledge: 'acknowledged', contact: 'escalated' },
      acknowledged: { contact: 'acknowledged', close: 'closed' },
      closed: {},
    };
    expect(CRITICAL_ALERT_STATES[status]).toEqual(expected[status]);
  });
});

describe('a red flag', () => {
  const flagsOf = async (patient: string) => (await clinic.rest('GET', `/v1/red-flags?user_id=${patient}`)).body.data;
  const change = (id: string, action: string, body: object = {}) => clinic.rest('POST', `/v1/red-flags/${id}/${action}`, body);
  const hba1c = async (patient: string, value: number) =>
    (await clinic.post(patient, { code: 'hba1c', value, collectedAt: await now() })).body.data[0];

  test('is raised by a rule over results, with its evidence, once while it stands', async () => {
    const patient = clinic.stranger();
    expect(await flagsOf(patient)).toEqual([]);
    await hba1c(patient, 6.4);
    expect(await flagsOf(patient)).toEqual([]);
    const row = await hba1c(patient, 6.5);
    await hba1c(patient, 7);
    const flags = await flagsOf(patient);
    expect(flags).toMatchObject([
      {
        rule: { key: 'hba1c_diabetic_range' },
        severity: 'warning',
        source: 'biomarker',
        status: 'open',
        evidence: [row.id],
        visible_to_member: true,
      },
    ]);
    expect(await eventsOf(patient, 'clinical.red_flag.detected.v1')).toEqual([
      { data: { flag_id: flags[0].id, rule: 'hba1c_diabetic_range', severity: 'warning', source: 'biomarker', detected_at: await now() } },
    ]);
  });

  test('goes from open over acknowledged to resolved; what is detected again is a new one', async () => {
    const patient = clinic.stranger();
    await hba1c(patient, 7);
    const [{ id }] = await flagsOf(patient);
    expect((await change(id, 'resolve', { resolution: 'diet' })).status).toBe(409);
    expect((await change(id, 'acknowledge')).body).toMatchObject({ status: 'acknowledged', acknowledged_by: 'service:demo-m2m' });
    await hba1c(patient, 7.1);
    expect(await flagsOf(patient)).toHaveLength(1);
    expect((await change(id, 'resolve', { resolution: 'diet' })).body).toMatchObject({ status: 'resolved', resolution: 'diet' });
    expect((await change(id, 'dismiss', { reason: 'x' })).status).toBe(409);
    await hba1c(patient, 7.2);
    expect((await flagsOf(patient)).map((flag: any) => flag.status).sort()).toEqual(['open', 'resolved']);
  });

  test('is dismissed with a reason only', async () => {
    const patient = clinic.stranger();
    await hba1c(patient, 7);
    const [{ id }] = await flagsOf(patient);
    expect(await change(id, 'dismiss', {})).toMatchObject({ status: 400, body: { errors: [{ pointer: '/reason' }] } });
    expect((await change(id, 'dismiss', { reason: 'known diabetes' })).body).toMatchObject({
      status: 'dismissed',
      resolution: 'known diabetes',
    });
    expect((await change(randomUUID(), 'dismiss', { reason: 'x' })).status).toBe(404);
  });

  test('that is urgent reaches the member after acknowledgement or 24 h, others at once', async () => {
    const at = await now();
    await hba1c(DEMO, 7);
    await clinic.post(DEMO, { code: 'glucose_fasting', value: 300, unit: 'mg/dL', collectedAt: at });
    const seen = async () => (await mine('/v1/red-flags/me')).map((flag: any) => flag.severity).sort();
    expect(await seen()).toEqual(['warning']);
    const urgent = (await flagsOf(DEMO)).find((flag: any) => flag.severity === 'urgent');
    expect(urgent.visible_to_member).toBe(false);
    await clinic.clock(after(at, 24 * HOUR));
    expect(await seen()).toEqual(['urgent', 'warning']);
    await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
    await clinic.post(DEMO, { code: 'glucose_fasting', value: 300, unit: 'mg/dL', collectedAt: at });
    await change((await flagsOf(DEMO))[0].id, 'acknowledge');
    expect(await seen()).toEqual(['urgent']);
  });

  test('shows a member the own ones, workflow no evidence, and another member nothing', async () => {
    await hba1c(DEMO, 7);
    expect((await clinic.rest('GET', '/v1/red-flags/me', undefined, await member(['read:red_flags']))).body.data).toMatchObject([
      { evidence: null },
    ]);
    expect((await clinic.rest('GET', '/v1/red-flags/me', undefined, await member(['read:red_flags'], DEMO2))).body.data).toEqual([]);
    const workflow = await clinic.rest('GET', `/v1/red-flags?user_id=${DEMO}`, undefined, await clinic.p.internalToken('workflow'));
    expect(workflow.body.data).toMatchObject([{ evidence: null, resolution: null, rule: { key: 'hba1c_diabetic_range' } }]);
    expect((await clinic.rest('POST', `/v1/red-flags/${randomUUID()}/acknowledge`, {}, await member())).status).toBe(403);
  });

  test('that is urgent and open refuses that an intervention becomes active', async () => {
    const patient = clinic.stranger();
    await clinic.post(patient, { code: 'glucose_fasting', value: 300, unit: 'mg/dL', collectedAt: await now() });
    const start = () => clinic.rest('POST', '/v1/protocols', { user_id: patient, kind: 'protocol', key: 'lipid_reset' });
    expect(await start()).toMatchObject({ status: 409, body: { reason: 'urgent_red_flag' } });
    await change((await flagsOf(patient))[0].id, 'acknowledge');
    expect((await start()).status).toBe(201);
  });

  test.each(Object.values(RedFlagStatus))('the table of flags says what leads out of %s', status => {
    const expected = {
      open: { acknowledge: 'acknowledged', dismiss: 'dismissed' },
      acknowledged: { resolve: 'resolved', dismiss: 'dismissed' },
      resolved: {},
      dismissed: {},
    };
    expect(RED_FLAG_STATES[status]).toEqual(expected[status]);
  });

  test('a rule reads coded inputs; what is not there fires nothing', () => {
    const condition = { and: [{ '!=': [{ var: 'biomarkers.ldl_c.value' }, null] }, { '>': [{ var: 'biomarkers.ldl_c.value' }, 190] }] };
    expect(markersOf(condition)).toEqual(['ldl_c']);
    expect([{}, { biomarkers: {} }, { biomarkers: { ldl_c: { value: 190 } } }].map(inputs => fires(condition, inputs))).toEqual([
      false,
      false,
      false,
    ]);
    expect(fires(condition, { biomarkers: { ldl_c: { value: 191 } } })).toBe(true);
  });
});

test('a critical value never leaves by event, audit or log', async () => {
  const patient = clinic.stranger();
  await clinic.post(patient, { code: 'potassium', value: 6.787, collectedAt: await now() });
  const [{ text }] = await clinic.p.sql(
    `select (select string_agg(data::text, ' ') from events.outbox) || (select string_agg(details::text, ' ') from clinical.audit_log) as text`,
  );
  expect(text).not.toContain('6.787');
  expect(Date.parse(day(0))).toBe(Date.parse(T0));
});
