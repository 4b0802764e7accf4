import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { BRAND, DEMO, DEMO2 } from '../support/platform.js';
import { askedDuring } from '../support/statements.js';
import { until } from '../support/until.js';
import { Clinic, day, T0 } from './clinic.js';

let clinic: Clinic;
let cycles: any[];
beforeAll(async () => {
  clinic = await Clinic.open(day(100));
  cycles = [];
  for (const user of [DEMO, DEMO2]) {
    await clinic.rest('POST', '/v1/protocols', { user_id: user, kind: 'protocol', key: 'lipid_reset' });
    const cycle = await clinic.cycle(user, { value: user === DEMO ? 160 : 170 });
    await clinic.lab(user, { code: 'ldl_c', value: 110, collectedAt: day(95) });
    await clinic.lab(user, { code: 'tsh', value: 2, collectedAt: day(96) });
    cycles.push(await clinic.read(cycle.id));
  }
});

const ask = async (query: string, variables: object = {}, token = clinic.token) => {
  const { data, errors } = await clinic.p.graphql(query, variables, { token });
  expect(errors).toEqual([]);
  return data;
};

describe('one GraphQL query', () => {
  test('joins user (identity), brand (platform) and re-test cycle (clinical)', async () => {
    const data = await ask(
      'query ($id: ID!) { retestCycle(id: $id) { code status outcomeDirection brand { id slug } patient { id profile { displayName } } intervention { kind key } } }',
      { id: cycles[0].id },
    );
    expect(data.retestCycle).toMatchObject({
      code: 'ldl_c',
      status: 'RETESTED',
      outcomeDirection: 'IMPROVED',
      brand: { id: BRAND, slug: 'main' },
      patient: { id: DEMO },
      intervention: { kind: 'PROTOCOL', key: 'lipid_reset' },
    });
  });

  test('reads the chart of a user', async () => {
    const chart = `query Chart($id: ID!) { user(id: $id) { clinical { observations(latest: true, first: 50) { nodes { biomarker { code name } value { value unit } interpretation collectedAt } }
      interventions(status: ACTIVE) { nodes { kind key startedOn } } retestCycles(first: 10) { nodes { code status retestDueAt outcomeDirection } } } } }`;
    expect((await ask(chart, { id: DEMO })).user.clinical).toEqual({
      observations: {
        nodes: [
          {
            biomarker: { code: 'tsh', name: 'Thyrotropin' },
            value: { value: 2, unit: 'm[IU]/L' },
            interpretation: 'N',
            collectedAt: day(96),
          },
          {
            biomarker: { code: 'ldl_c', name: 'LDL cholesterol' },
            value: { value: 110, unit: 'mg/dL' },
            interpretation: 'N',
            collectedAt: day(95),
          },
        ],
      },
      interventions: { nodes: [{ kind: 'PROTOCOL', key: 'lipid_reset', startedOn: day(100).slice(0, 10) }] },
      retestCycles: { nodes: [{ code: 'ldl_c', status: 'RETESTED', retestDueAt: day(90), outcomeDirection: 'IMPROVED' }] },
    });
  });

  test('gives each of many users the own first page, and further pages by cursor', async () => {
    const query = `query ($after: String) { retestCycles { nodes { patient { id clinical { observations(first: 2, after: $after) { nodes { patientId collectedAt } pageInfo { endCursor hasNextPage } } } } } } }`;
    const { retestCycles } = await ask(query);
    const pages = retestCycles.nodes.map(({ patient }: any) => ({ id: patient.id, ...patient.clinical.observations }));
    expect(pages.map((page: any) => page.id).sort()).toEqual([DEMO, DEMO2]);
    for (const page of pages) {
      expect(page.nodes).toEqual([
        { patientId: page.id, collectedAt: day(96) },
        { patientId: page.id, collectedAt: day(95) },
      ]);
      expect(page.pageInfo).toEqual({ endCursor: expect.any(String), hasNextPage: true });
    }
    const next = await ask(query, { after: pages[0].pageInfo.endCursor });
    const { patient } = next.retestCycles.nodes.find((node: any) => node.patient.id === pages[0].id);
    expect(patient.clinical.observations).toMatchObject({
      nodes: [{ patientId: patient.id, collectedAt: T0 }],
      pageInfo: { hasNextPage: false },
    });
  });

  test('refuses a member what its scopes do not open', async () => {
    const token = await clinic.p.userToken(DEMO, ['read:my_outcomes', 'read:profile']);
    const { errors } = await clinic.p.graphql(
      'query ($id: ID!) { retestCycle(id: $id) { patient { clinical { observations { nodes { id } } } } } }',
      { id: cycles[0].id },
      { token },
    );
    expect(errors.map(error => error.extensions.code)).toEqual(['INSUFFICIENT_SCOPE']);
  });
});

describe('references', () => {
  const entities = async (representations: object[], selection: string) =>
    (
      await clinic.p.rest('POST', '/clinical/graphql', {
        token: clinic.token,
        body: { query: `query ($r: [_Any!]!) { _entities(representations: $r) { ${selection} } }`, variables: { r: representations } },
      })
    ).body.data._entities;

  test('are resolved in the order that they are asked in, null where nothing is', async () => {
    const ids = [cycles[1].id, randomUUID(), cycles[0].id, 'nonsense'];
    expect(
      await entities(
        ids.map(id => ({ __typename: 'RetestCycle', id })),
        '... on RetestCycle { id patientId }',
      ),
    ).toEqual([{ id: cycles[1].id, patientId: DEMO2 }, null, { id: cycles[0].id, patientId: DEMO }, null]);
    expect(
      await entities(
        ['tsh', 'none', '13457-7'].map(code => ({ __typename: 'Biomarker', code })),
        '... on Biomarker { code unit }',
      ),
    ).toEqual([{ code: 'tsh', unit: 'm[IU]/L' }, null, { code: 'ldl_c', unit: 'mg/dL' }]);
    expect(
      await entities(
        ['lipid_reset', 'none'].map(key => ({ __typename: 'Protocol', key })),
        '... on Protocol { key title }',
      ),
    ).toEqual([{ key: 'lipid_reset', title: 'Lipid reset' }, null]);
  });
});

describe('a list of 100 results', () => {
  test('with its dictionary entries and ranges costs at most 6 statements', async () => {
    const patient = clinic.stranger();
    await clinic.rest('POST', '/v1/biomarkers', {
      user_id: patient,
      observations: Array.from({ length: 100 }, (_, index) =>
        clinic.row({ code: index % 2 ? 'ldl_c' : 'tsh', value: 3, collectedAt: day(-index) }),
      ),
    });
    let data: any;
    const texts = (
      await askedDuring(clinic.p, async () => {
        data = await ask(
          `query ($id: ID!) { observations(userId: $id, first: 100) { nodes { value { value unit } biomarker { name ranges { kind low high } } } } }`,
          { id: patient },
        );
      })
    ).map(({ text }) => text);
    const statements = texts.filter(
      text =>
        /"?clinical"?\./.test(text) &&
        !/test_clock|schedule_slot|inbox|sweep_run|retest_cycle|lab_order_progress|epoch from min/.test(text),
    ); // not the manual clock, nor timers and what else runs beside
    expect(data.observations.nodes).toHaveLength(100);
    expect(statements.length).toBeGreaterThan(2);
    expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(6);
  });
});

test("the contract's chart: profile, newest score, results, interventions, cycles and red flags of a user in one query", async () => {
  const results = { apob: 70, hs_crp: 0.5, hba1c: 7 };
  await clinic.post(DEMO, ...Object.entries(results).map(([code, value]) => ({ code, value, collectedAt: day(97) })));
  await clinic.rest('POST', '/v1/health-score/recompute', { user_id: DEMO });
  await clinic.clock(day(100.01));
  const chart = `query Chart($id: ID!) { user(id: $id) { profile { displayName } clinical { healthScore { band trend }
    observations(latest: true, first: 50) { nodes { biomarker { code name } value { value unit } interpretation collectedAt } }
    interventions(status: ACTIVE) { nodes { kind key startedOn } } retestCycles(first: 10) { nodes { code status retestDueAt outcomeDirection } } redFlags { severity rule { key } } } } }`;
  const read = async () => (await ask(chart, { id: DEMO })).user;
  const { profile, clinical } = await until('the score', read, user => user.clinical.healthScore.band !== null);
  expect(profile).toEqual({ displayName: expect.any(String) });
  // lipids 93.8 and metabolic 34.6 weigh 2 each, inflammation 1.5 and thyroid 1 are at 100: 78
  expect(clinical.healthScore).toEqual({ band: 'GOOD', trend: 'FIRST' });
  const codes = ['apob', 'hba1c', 'hs_crp', 'ldl_c', 'tsh'];
  expect(clinical.observations.nodes.map((row: any) => row.biomarker.code).sort()).toEqual(codes);
  expect(clinical.interventions.nodes).toMatchObject([{ kind: 'PROTOCOL', key: 'lipid_reset' }]);
  expect(clinical.retestCycles.nodes).toMatchObject([{ code: 'ldl_c', status: 'RETESTED', outcomeDirection: 'IMPROVED' }]);
  expect(clinical.redFlags).toEqual([{ severity: 'WARNING', rule: { key: 'hba1c_diabetic_range' } }]);
  const member = await clinic.p.userToken(DEMO, ['read:profile', 'read:clinical']);
  const partly = await clinic.p.graphql(
    'query ($id: ID!) { user(id: $id) { clinical { healthScore { band score } redFlags { severity } } } }',
    { id: DEMO },
    { token: member },
  );
  expect(partly.errors.map(error => error.extensions.code)).toEqual(['INSUFFICIENT_SCOPE']);
});
