import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, day, T0 } from './clinic.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open(day(100));
});
afterEach(() => clinic.leave());

/** A patient with a retested cycle of LDL-C 160 -> 110. */
async function retested(patient: string): Promise<any> {
  const cycle = await clinic.cycle(patient);
  await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(95) });
  return clinic.read(cycle.id);
}

async function demoCycle(): Promise<any> {
  await clinic.rest('POST', '/v1/protocols', { user_id: DEMO, kind: 'protocol', key: 'lipid_reset' });
  return retested(DEMO);
}

const erase = (patient: string) => clinic.rest('POST', '/v1/admin/erasure', { patient_id: patient });
const VALUES = ['baseline_value', 'follow_up_value', 'delta', 'delta_percent', 'target'];
const NO_VALUES = Object.fromEntries(VALUES.map(key => [key, null]));

describe('a member', () => {
  test("finds nothing of another's: observation, cycle, intervention", async () => {
    const cycle = await demoCycle();
    const token = await clinic.p.userToken(DEMO2, ['read:my_outcomes', 'read:biomarkers', 'read:protocols', 'write:protocols']);
    const ask = (path: string, method = 'GET') => clinic.rest(method, path, undefined, token);
    for (const path of [`/v1/retest-cycles/${cycle.id}`, `/v1/biomarkers/${cycle.baseline_observation_id}`])
      expect(await ask(path)).toMatchObject({ status: 404, body: { code: 'not_found', detail: 'Not found' } });
    expect(await ask(`/v1/retest-cycles/${randomUUID()}`)).toMatchObject({ status: 404, body: { code: 'not_found', detail: 'Not found' } });
    expect((await ask(`/v1/protocols/${cycle.intervention.id}/stop`, 'POST')).status).toBe(404);
    for (const path of ['/v1/retest-cycles/me', '/v1/biomarkers/me', '/v1/protocols/me']) expect((await ask(path)).body.data).toEqual([]);
    await erase(DEMO);
  });

  test('with read:my_outcomes alone sees direction and times, and no value; with read:biomarkers also the values', async () => {
    await demoCycle();
    const list = async (scopes: string[]) =>
      (await clinic.rest('GET', '/v1/retest-cycles/me', undefined, await clinic.p.userToken(DEMO, scopes))).body.data;
    expect(await list(['read:my_outcomes'])).toMatchObject([
      { status: 'retested', outcome_direction: 'improved', days_to_retest: 95, ...NO_VALUES },
    ]);
    expect(await list(['read:my_outcomes', 'read:biomarkers'])).toMatchObject([
      { baseline_value: { value: 160, unit: 'mg/dL' }, follow_up_value: { value: 110, unit: 'mg/dL' }, delta: -50, delta_percent: -31.2 },
    ]);
    expect((await clinic.rest('GET', '/v1/retest-cycles/me', undefined, await clinic.p.userToken(DEMO, ['read:biomarkers']))).status).toBe(
      403,
    );
    await erase(DEMO);
  });

  test('has only the own part of a User, also over the gateway', async () => {
    const cycle = await demoCycle();
    const query = `query ($id: ID!) { retestCycle(id: $id) { id patient { id clinical { retestCycles { nodes { id baselineValue { value } } } } } brand { id name } } }`;
    const own = await clinic.p.graphql(
      query,
      { id: cycle.id },
      { token: await clinic.p.userToken(DEMO, ['read:my_outcomes', 'read:profile']) },
    );
    expect(own.data.retestCycle).toMatchObject({
      patient: { id: DEMO, clinical: { retestCycles: { nodes: [{ id: cycle.id, baselineValue: null }] } } },
      brand: { name: 'Main' },
    });
    const entities = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on RetestCycle { id status } ... on BiomarkerObservation { id code } ... on Intervention { id } ... on User { id clinical { interventions { nodes { id } } } } } }`;
    const r = [
      { __typename: 'RetestCycle', id: cycle.id },
      { __typename: 'BiomarkerObservation', id: cycle.baseline_observation_id },
      { __typename: 'Intervention', id: cycle.intervention.id },
      { __typename: 'User', id: DEMO },
    ];
    const scopes = ['read:my_outcomes', 'read:biomarkers', 'read:protocols'];
    const ask = async (token: string) =>
      (await clinic.p.rest('POST', '/clinical/graphql', { token, body: { query: entities, variables: { r } } })).body.data._entities;
    expect(await ask(await clinic.p.userToken(DEMO2, scopes))).toEqual([null, null, null, null]);
    expect(await ask(await clinic.p.userToken(DEMO, scopes))).toMatchObject([
      { id: cycle.id },
      { code: 'ldl_c' },
      { id: cycle.intervention.id },
      { clinical: { interventions: { nodes: [{}] } } },
    ]);
    expect((await ask(await clinic.p.userToken(DEMO, ['read:profile']))).slice(0, 3)).toEqual([null, null, null]);
    await erase(DEMO);
  });
});

describe('services and staff', () => {
  test('comms and intelligence see cycles without values, patient-graph results without values', async () => {
    const patient = await clinic.patient();
    await retested(patient);
    for (const slug of ['comms', 'intelligence'] as const) {
      const token = await clinic.p.internalToken(slug);
      const list = (query: string) => clinic.rest('GET', `/v1/retest-cycles?patient_id=${patient}${query}`, undefined, token);
      expect((await list('&status=retested&code=ldl_c')).body.data).toMatchObject([
        { status: 'retested', outcome_direction: 'improved', ...NO_VALUES },
      ]);
      expect((await list('&status=prompted')).body.data).toEqual([]);
      expect((await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}`, undefined, token)).status).toBe(403);
    }
    const graph = await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}`, undefined, await clinic.p.internalToken('patient-graph'));
    expect(graph.body.data).toMatchObject([
      { code: 'ldl_c', value: null, canonical_value: null, reported_range: null, applied_range: null, range_basis: null, in_optimal: null },
      { value: null },
    ]);
    expect(
      (await clinic.rest('GET', `/v1/retest-cycles?patient_id=${patient}`, undefined, await clinic.p.internalToken('cash'))).status,
    ).toBe(403);
  });

  test('leave an audit row for each reading of values, with counts and no values; the owner and who sees no values do not', async () => {
    const cycle = await demoCycle();
    const staff = await clinic.p.userToken(DEMO2, [], { permissions: ['admin:clinical:read'], roles: ['clinician'] });
    const trail = () =>
      clinic.p.sql(
        `select action, details, actor->>'kind' as kind from clinical.audit_log where target = $1 and action like '%.read' order by at, id`,
        [DEMO],
      );
    const before = (await trail()).length;
    const owner = await clinic.p.userToken(DEMO, ['read:my_outcomes', 'read:biomarkers']);
    await clinic.rest('GET', '/v1/retest-cycles/me', undefined, owner);
    await clinic.rest('GET', `/v1/retest-cycles?patient_id=${DEMO}`, undefined, await clinic.p.internalToken('comms'));
    expect(await trail()).toHaveLength(before);
    await clinic.rest('GET', `/v1/biomarkers?user_id=${DEMO}`, undefined, staff);
    await clinic.rest('GET', `/v1/retest-cycles/${cycle.id}`, undefined, staff);
    await clinic.rest('GET', `/v1/retest-cycles?patient_id=${DEMO}`);
    expect((await trail()).slice(before)).toEqual([
      { action: 'observations.read', details: { kind: 'observations', rows: 2 }, kind: 'staff' },
      { action: 'retest_cycles.read', details: { kind: 'retest_cycles', rows: 1 }, kind: 'staff' },
      { action: 'retest_cycles.read', details: { kind: 'retest_cycles', rows: 1 }, kind: 'service' },
    ]);
    await erase(DEMO);
  });
});

describe('in the database', () => {
  /** Columns that hold health data or its units, by the marks of the contract. */
  const HEALTH: Record<string, string[]> = {
    retest_cycle: [
      'baseline_value',
      'unit',
      'target_low',
      'target_high',
      'follow_up_value',
      'delta',
      'delta_percent',
      'values_hidden_until',
    ],
    observation: ['result_sealed', 'canonical_value', 'source_ref', 'hidden_until'],
    critical_alert: [],
    red_flag: ['details_sealed'],
    consult: ['details_sealed'],
    check_in: ['answers_sealed'],
    dose_log: ['details_sealed'],
    health_score: ['details_sealed'],
    lab_report: ['sha256', 'report_number'],
    report_row: ['details_sealed'],
  };
  const columns = async (name: string): Promise<string[]> => {
    const rows = await clinic.p.sql(
      `select column_name as name from information_schema.columns where table_schema = 'clinical' and table_name = $1 order by 1`,
      [name],
    );
    return rows.map(row => row.name);
  };

  const VIEW: Record<string, string> = { retest_cycle: 'retest_cycles_safe' };
  test.each(Object.keys(HEALTH).map(table => [table, VIEW[table] ?? `${table}_safe`]))(
    '%s without its health columns is %s',
    async (table, view) => {
      expect(await columns(view)).toEqual((await columns(table)).filter(column => !HEALTH[table]!.includes(column)));
    },
  );

  test('as platform_ro, the safe view is open and the tables are not', async () => {
    await retested(await clinic.patient());
    const asReader = (statement: string) => clinic.p.sql(`set local role platform_ro; ${statement}`); // one message, so one transaction
    await asReader('select id, status, outcome_direction from clinical.retest_cycles_safe');
    for (const column of HEALTH.retest_cycle!)
      await expect(asReader(`select ${column} from clinical.retest_cycles_safe`)).rejects.toThrow(/does not exist/);
    for (const table of ['retest_cycle', 'observation', 'intervention', 'audit_log', 'retest_tally'])
      await expect(asReader(`select 1 from clinical.${table}`)).rejects.toThrow(/permission denied/);
  });

  test('what was measured is sealed; the key and the row decide whether it opens', async () => {
    const patient = await clinic.patient();
    await clinic.lab(patient, { code: 'ldl_c', value: 123.456, collectedAt: T0 });
    const [row] = await clinic.p.sql('select id, result_sealed from clinical.observation where patient_id = $1', [patient]);
    expect(row.result_sealed.toString('latin1')).not.toContain('123.456');
    const { sealer } = clinic.p.host('clinical');
    expect(JSON.parse(sealer.open(row.result_sealed, `observation.result_sealed:${row.id}`))).toMatchObject({
      value: 123.456,
      unit: 'mg/dL',
    });
    expect(() => sealer.open(row.result_sealed, `observation.result_sealed:${randomUUID()}`)).toThrow(/unable to authenticate data/);
  });
});

test('no health value is in any event, audit row or idempotency key', async () => {
  const patient = await clinic.patient();
  await clinic.cycle(patient, { value: 163.7 });
  await clinic.lab(patient, { code: 'ldl_c', value: 118.3, collectedAt: day(95) });
  const [{ text }] = await clinic.p
    .sql(`select (select string_agg(data::text, ' ') from events.outbox) || (select string_agg(details::text, ' ') from clinical.audit_log)
    || coalesce((select string_agg(k::text, ' ') from clinical.idempotency_key k), '') as text`);
  expect(text).not.toMatch(/163\.7|118\.3|45\.4|mg\/dL/);
});

describe('erasure', () => {
  const tables = ['retest_cycle', 'observation', 'intervention', 'lab_order_marker'];
  const rowsOf = async (patient: string) => {
    const counts = await Promise.all(
      tables.map(table => clinic.p.sql(`select count(*)::int as rows from clinical.${table} where patient_id = $1`, [patient])),
    );
    return counts.reduce((sum, [{ rows }]) => sum + rows, 0);
  };

  test('deletes everything that is keyed by patient_id, answers counts per table, and does so once', async () => {
    const [patient, other] = [await clinic.patient(), await clinic.patient()];
    await retested(patient);
    await retested(other);
    await clinic.p.sql(`insert into clinical.lab_order_marker values (gen_random_uuid(), 'ldl_c', $1, now())`, [patient]);
    expect(await erase(patient)).toMatchObject({
      status: 200,
      body: { patient_id: patient, outcome: 'erased', records: { retest_cycle: 1, observation: 2, intervention: 1, lab_order_marker: 1 } },
    });
    expect(await rowsOf(patient)).toBe(0);
    expect(await rowsOf(other)).toBe(4);
    expect(await erase(patient)).toMatchObject({
      status: 200,
      body: { outcome: 'nothing_held', records: { retest_cycle: 0, observation: 0, intervention: 0, lab_order_marker: 0 } },
    });
  });

  test('leaves counts only in the audit log, and takes the cycles out of the statistics', async () => {
    const patient = await clinic.patient();
    const stats = async () => (await clinic.rest('GET', '/v1/retest-cycles/stats')).body.counts;
    const before = await stats();
    await retested(patient);
    expect(await stats()).toEqual({ ...before, retested: before.retested + 1 });
    await erase(patient);
    expect(await stats()).toEqual(before);
    const [row] = await clinic.p.sql(`select details from clinical.audit_log where action = 'user.erased' and target = $1`, [patient]);
    expect(row.details).toEqual({
      request_id: expect.any(String),
      scope: 'health',
      outcome: 'erased',
      records: expect.objectContaining({ retest_cycle: 1, observation: 2, intervention: 1, lab_order_marker: 0 }),
    });
  });

  test('a handler and a sweep that come later find nothing', async () => {
    const patient = await clinic.patient();
    await clinic.cycle(patient);
    await clinic.fault('retest.handler', null, 1);
    const { body } = await clinic.post(patient, { code: 'ldl_c', value: 110, collectedAt: day(95) });
    await erase(patient);
    await clinic.handled(body.data[0].id);
    expect(await clinic.sweep()).toMatchObject({ recorded: 0, failed: 0 });
    expect(await clinic.eventTypes(patient)).toEqual(['cycle_started']);
  });

  test.each([
    ['full', 0],
    ['health', 0],
    ['marketing', 4],
  ] as const)('asked for by identity with scope %s leaves %d rows', async (scope, left) => {
    const patient = await clinic.patient();
    await retested(patient);
    const requestId = randomUUID();
    await clinic.p
      .host('identity')
      .transaction(async ctx =>
        ctx.emit(userErasureRequested, { request_id: requestId, scope, requested_at: day(100), due_at: day(130) }, { userId: patient }),
      );
    const erased = () => clinic.p.sql(`select details from clinical.audit_log where action = 'user.erased' and target = $1`, [patient]);
    const [row] = await until('the erasure', erased, rows => rows.length === 1);
    expect(row.details).toMatchObject({ request_id: requestId, scope });
    expect(await rowsOf(patient)).toBe(left);
  });

  test.each([
    ['full', 404],
    ['health', 201],
  ] as const)('with scope %s, what labs or a clinician sends afterwards is answered %d', async (scope, status) => {
    const patient = await clinic.patient();
    await clinic.tell(
      'identity',
      userErasureRequested,
      { request_id: randomUUID(), scope, requested_at: day(100), due_at: day(130) },
      patient,
    );
    const proof = () => clinic.p.sql(`select 1 from clinical.audit_log where action = 'user.erased' and target = $1`, [patient]);
    await until('the erasure', proof, rows => rows.length === 1);
    expect((await clinic.rest('POST', '/v1/protocols', { user_id: patient, kind: 'protocol', key: 'lipid_reset' })).status).toBe(status);
    expect((await clinic.rest('POST', '/v1/retest-cycles', clinic.cycleBody(patient))).status).toBe(status);
    expect((await clinic.post(patient, { code: 'ldl_c', value: 110, collectedAt: day(95) })).status).toBe(status);
    const report = { user_id: patient, file: Buffer.from('MSH|^~\\&|LAB|LAB|APP|APP|20260701||ORU^R01|1|P|2.5').toString('base64') };
    expect((await clinic.rest('POST', '/v1/bloodwork', report)).status).toBe(scope === 'full' ? 404 : 202);
    if (scope === 'full') expect(await rowsOf(patient)).toBe(0); // so no sweep can prompt
  });

  test('is for services with admin:clinical', async () => {
    const ask = (token: string | null) => clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO }, token);
    expect((await ask(null)).status).toBe(401);
    expect((await ask(await clinic.p.userToken(DEMO, ['write:clinical']))).status).toBe(403);
    expect((await ask(await clinic.p.internalToken('comms'))).status).toBe(403);
    expect((await clinic.rest('POST', '/v1/admin/erasure', { patient_id: 'x' })).status).toBe(400);
  });
});
