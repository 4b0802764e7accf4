import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { visitCreated } from '../../events/catalogue/booking.js';
import { labsVendorOrderStatusChanged } from '../../events/catalogue/integrations.js';
import { encounterRecorded } from '../../events/catalogue/patient-graph.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, day } from './clinic.js';
import { neighbours } from './neighbours.js';

const [ENCOUNTER, ORDER, VISIT, DRAW] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
let clinic: Clinic;
let results: string[];

/** The demo user has results of a draw for a lab order within an encounter, and a visit for a consult. */
beforeAll(async () => {
  clinic = await Clinic.open(day(10));
  neighbours(clinic, {
    ClinicalLabOrder: { labOrder: { specimens: [{ id: DRAW }], items: [] } },
    ClinicalContraindications: { patient: null },
  });
  await clinic.tell(
    'patient-graph',
    encounterRecorded,
    { encounter_id: ENCOUNTER, encounter_class: 'ambulatory', period_start: day(5), source: 'visit' },
    DEMO,
  );
  await clinic.tell(
    'integrations',
    labsVendorOrderStatusChanged,
    { lab_order_id: ORDER, vendor_order_ref: 'lab_1', from: null, to: 'collected', changed_at: day(6) },
    DEMO,
  );
  const stored = await clinic.post(
    DEMO,
    { code: 'ldl_c', value: 120, collectedAt: day(5.1), drawId: DRAW },
    { code: 'tsh', value: 2, collectedAt: day(6.5) },
  );
  results = stored.body.data.map((row: any) => row.id);
  const consult = await clinic.rest('POST', '/v1/consults', { user_id: DEMO, type: 'follow_up' });
  await clinic.tell(
    'booking',
    visitCreated,
    {
      visit_id: VISIT,
      visit_type: 'follow_up',
      provider_id: randomUUID(),
      mode: 'video',
      starts_at: day(12),
      ends_at: day(12),
      time_zone: 'UTC',
      source: 'member',
    },
    DEMO,
  );
  const known = `select (select count(*) from clinical.encounter_period) + (select count(*) from clinical.lab_order_draw) + (select count(*) from clinical.consult where status = 'scheduled') as n`;
  await until(
    'all is known',
    () => clinic.p.sql(known),
    rows => Number(rows[0].n) === 3,
  );
  expect(consult.status).toBe(201);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO });
});

async function ask(type: string, id: string, selection: string, token: string = clinic.token): Promise<any> {
  const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on ${type} { ${selection} } } }`;
  const body = { query, variables: { r: [{ __typename: type, id }] } };
  return (await clinic.p.rest('POST', '/clinical/graphql', { token, body })).body.data?._entities?.[0];
}

const member = (id: string, ...scopes: string[]) => clinic.p.userToken(id, scopes);

describe("clinical's fields on types of neighbours", () => {
  test('Patient.observations are the results of the user whose id the patient bears', async () => {
    const asked = (token?: string) => ask('Patient', DEMO, 'observations(first: 1) { nodes { id } pageInfo { hasNextPage } }', token);
    expect((await asked()).observations).toEqual({ nodes: [{ id: results[1] }], pageInfo: { hasNextPage: true } });
    expect((await asked(await member(DEMO, 'read:biomarkers'))).observations.nodes).toEqual([{ id: results[1] }]);
    expect(await asked(await member(DEMO2, 'read:biomarkers'))).toBeNull();
    expect((await asked(await member(DEMO, 'read:clinical')))?.observations ?? null).toBeNull();
  });

  test('Encounter.observations are the results drawn in its 24 hours', async () => {
    expect(await ask('Encounter', ENCOUNTER, 'observations { id }')).toEqual({ observations: [{ id: results[0] }] });
    expect(await ask('Encounter', randomUUID(), 'observations { id }')).toEqual({ observations: [] });
    expect(await ask('Encounter', ENCOUNTER, 'observations { id }', await member(DEMO2, 'read:biomarkers'))).toEqual({ observations: [] });
  });

  test('LabOrder.observations are the results of the draws that were made for it', async () => {
    const selection = 'observations { id value { value } }';
    expect(await ask('LabOrder', ORDER, selection)).toEqual({ observations: [{ id: results[0], value: { value: 120 } }] });
    const forPatientGraph = await ask('LabOrder', ORDER, selection, await clinic.p.internalToken('patient-graph'));
    expect(forPatientGraph).toEqual({ observations: [{ id: results[0], value: null }] });
    expect(await ask('LabOrder', ORDER, selection, await member(DEMO2, 'read:biomarkers'))).toEqual({ observations: [] });
  });

  test('BookingVisit.consult is the consult that the visit is for', async () => {
    expect(await ask('BookingVisit', VISIT, 'consult { type status }')).toEqual({ consult: { type: 'follow_up', status: 'SCHEDULED' } });
    expect(await ask('BookingVisit', VISIT, 'consult { status }', await member(DEMO, 'read:clinical'))).toEqual({
      consult: { status: 'SCHEDULED' },
    });
    expect(await ask('BookingVisit', VISIT, 'consult { status }', await member(DEMO2, 'read:clinical'))).toEqual({ consult: null });
  });

  test('leave an audit row where a service sees values', async () => {
    const trail = () => clinic.p.sql(`select 1 from clinical.audit_log where action = 'observations.read' and target = $1`, [DEMO]);
    const before = (await trail()).length;
    await ask('LabOrder', ORDER, 'observations { id }');
    expect((await trail()).length).toBe(before + 1);
  });
});
