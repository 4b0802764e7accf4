import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEMO, DEMO2 } from '../support/platform.js';
import { until } from '../support/until.js';
import { Clinic, day } from './clinic.js';

const HOUR_MS = 3_600_000;
const BOTH = ['read:clinical', 'read:biomarkers'];

let clinic: Clinic;
let now = Date.parse(day(100));
beforeAll(async () => {
  clinic = await Clinic.open(day(100));
});
afterEach(async () => {
  for (const patient_id of [DEMO, DEMO2]) await clinic.rest('POST', '/v1/admin/erasure', { patient_id });
  await clinic.leave();
});

/** Stores so many results, one resource each: their draws are their own days, and none has a panel. */
async function results(patient: string, count: number, from = 0): Promise<void> {
  for (let done = 0; done < count; done += 200) {
    const observations = Array.from({ length: Math.min(200, count - done) }, (_, index) => ({
      code: 'apob',
      value: 80,
      unit: 'mg/dL',
      collected_at: new Date(now - (from + done + index + 1) * HOUR_MS).toISOString(),
      source: 'wearable',
      source_ref: `w:${randomUUID()}`,
      status: 'final',
    }));
    expect(await clinic.rest('POST', '/v1/biomarkers', { user_id: patient, observations })).toMatchObject({ status: 201 });
  }
}

const ask = (patient: string, query = '', token?: string) =>
  clinic.rest('GET', `/v1/fhir/export?user_id=${patient}${query}`, undefined, token);
const read = (id: string, token?: string) => clinic.rest('GET', `/v1/fhir/exports/${id}`, undefined, token);
const ended = (id: string, token?: string) =>
  until(
    'the export',
    () => read(id, token),
    ({ status }) => status !== 202,
  );
const mine = async (method = 'GET', path = '/v1/fhir/export/me', token?: string) =>
  clinic.rest(method, path, undefined, token ?? (await clinic.p.userToken(DEMO, BOTH)));
const rows = (patient: string) => clinic.p.sql('select * from clinical.fhir_export where patient_id = $1', [patient]);
const trail = (action: string, target: string) =>
  clinic.p.sql<{ details: any; actor: any }>('select details, actor from clinical.audit_log where action = $1 and target = $2', [
    action,
    target,
  ]);

describe('an export above 1,000 resources', () => {
  test('is answered with 202 and where it will be, where it is 202 until it is there with all its resources', async () => {
    const patient = clinic.stranger();
    await results(patient, 1000);
    const small = await ask(patient);
    expect(small).toMatchObject({ status: 200, body: { id: null, status: 'complete', resource_count: 1000, expires_at: null } });
    expect(small.body.bundle.entry).toHaveLength(1001); // with the person
    expect(await rows(patient)).toEqual([]);
    await results(patient, 200, 1000);
    const asked = await ask(patient, '&release=r5');
    expect(asked).toMatchObject({ status: 202, body: { status: 'running', resource_count: null, bundle: null } });
    expect(asked.headers.location).toBe(`/clinical/v1/fhir/exports/${asked.body.id}`);
    const made = await ended(asked.body.id);
    expect(made).toMatchObject({
      status: 200,
      body: { id: asked.body.id, status: 'complete', resource_count: 1200, bundle: { resourceType: 'Bundle', type: 'collection' } },
    });
    expect(new Set(made.body.bundle.entry.map((one: any) => one.resource.id)).size).toBe(1201);
  });

  test('is counted as it is made, whatever it holds', async () => {
    const patient = await clinic.patient();
    await clinic.cycle(patient);
    await clinic.lab(patient, { code: 'ldl_c', value: 110, collectedAt: day(95) });
    await clinic.post(patient, { code: 'hba1c', value: 7, collectedAt: day(99) }, { code: 'potassium', value: 6.6, collectedAt: day(99) });
    await clinic.rest('POST', '/v1/consults', { user_id: patient, type: 'initial' });
    await clinic.rest('POST', '/v1/vials', { user_id: patient, product_code: 'fibre_pack', expires_on: '2030-01-01', doses_planned: 5 });
    const held = (await ask(patient)).body.resource_count as number;
    expect(held).toBeGreaterThan(12);
    await results(patient, 1000 - held);
    expect(await ask(patient)).toMatchObject({ status: 200, body: { resource_count: 1000 } });
    await results(patient, 1, 1000);
    const asked = await ask(patient);
    expect(asked.status).toBe(202);
    expect((await ended(asked.body.id)).body.resource_count).toBe(1001);
  });

  test('belongs to who asked for it, with the scopes it was asked with; everybody else finds nothing', async () => {
    await results(DEMO, 1001);
    const asked = await mine();
    expect(asked.status).toBe(202);
    const at = `/v1/fhir/exports/${asked.body.id}`;
    await until(
      'the export',
      () => mine('GET', at),
      ({ status }) => status === 200,
    );
    const clinician = await clinic.p.userToken(DEMO2, BOTH, { permissions: ['admin:clinical:read'], roles: ['clinician'] });
    for (const token of [clinic.token, clinician, await clinic.p.userToken(DEMO2, BOTH), await clinic.p.internalToken('patient-graph')])
      expect(await mine('GET', at, token)).toMatchObject({ status: 404, body: { code: 'not_found', detail: 'Not found' } });
    expect((await mine('GET', at, await clinic.p.userToken(DEMO, ['read:clinical']))).status).toBe(403);
    expect((await clinic.rest('GET', at, undefined, null)).status).toBe(401);
    expect((await mine('GET', `/v1/fhir/exports/${randomUUID()}`)).status).toBe(404);
    expect((await mine('GET', '/v1/fhir/exports/none')).status).toBe(404);
  });

  test('for a member leaves out what the member may not see yet; patient-graph has it with values', async () => {
    await results(DEMO, 1001);
    await clinic.post(DEMO, { code: 'potassium', value: 6.6, collectedAt: day(99) });
    const asked = await mine();
    const own = await until(
      'the export',
      () => mine('GET', `/v1/fhir/exports/${asked.body.id}`),
      ({ status }) => status === 200,
    );
    const potassium = (body: any) => body.bundle.entry.filter((one: any) => one.resource.valueQuantity?.value === 6.6);
    expect(own.body.resource_count).toBe(1001);
    expect(potassium(own.body)).toEqual([]);
    const graph = await clinic.p.internalToken('patient-graph');
    const other = await ended((await ask(DEMO, '', graph)).body.id, graph);
    expect(potassium(other.body)).toHaveLength(1);
    expect(other.body.bundle.entry.map((one: any) => one.resource.resourceType)).toContain('DetectedIssue');
  });

  test('runs once for its asker, however often it is asked for; asked for again afterwards it is made anew', async () => {
    await results(DEMO, 1001);
    await clinic.fault('fhir_export', null, 1); // keeps the first from ending at once
    const token = await clinic.p.userToken(DEMO, BOTH);
    const answers = await Promise.all(Array.from({ length: 5 }, () => mine('GET', undefined, token)));
    const [id, ...others] = [...new Set(answers.map(one => one.body.id))];
    expect(others).toEqual([]);
    await clinic.clock(new Date((now += 60_000)).toISOString());
    await ended(id, token);
    const next = await mine('GET', undefined, token);
    expect(next.body.id).not.toBe(id);
    expect((await read(id, token)).status).toBe(404);
    expect(await rows(DEMO)).toHaveLength(1);
  });

  test('that cannot be made in three attempts has failed', async () => {
    await results(DEMO, 1001);
    await clinic.fault('fhir_export', null, 3);
    const { body } = await ask(DEMO);
    const failed = await until(
      'the failure',
      async () => (await clinic.clock(new Date((now += 60_000)).toISOString()), read(body.id)),
      ({ status }) => status === 200,
    );
    expect(failed.body).toMatchObject({ status: 'failed', resource_count: null, bundle: null });
  });

  test('is sealed, is gone an hour later, and goes with the person', async () => {
    await results(DEMO, 1001);
    const { body } = await ask(DEMO);
    await ended(body.id);
    const [row] = await rows(DEMO);
    expect(row!.bundle_sealed.toString('latin1')).not.toContain('Observation');
    expect(Object.keys((await clinic.p.sql('select * from clinical.fhir_export_safe limit 1'))[0]!)).not.toContain('bundle_sealed');
    await clinic.clock(new Date((now += HOUR_MS)).toISOString());
    expect((await read(body.id)).status).toBe(404);
    expect(await rows(DEMO)).toEqual([]);
    await ended((await ask(DEMO)).body.id);
    expect((await clinic.rest('POST', '/v1/admin/erasure', { patient_id: DEMO })).body.records.fhir_export).toBe(1);
    expect(await rows(DEMO)).toEqual([]);
  });

  test('is audited when it is asked for and each time it is read by others', async () => {
    const patient = clinic.stranger();
    await results(patient, 1001);
    const { body } = await ask(patient);
    expect(await trail('fhir_export.read', patient)).toEqual([]);
    await ended(body.id);
    expect(await trail('fhir_export.requested', patient)).toMatchObject([{ details: { export: body.id } }]);
    expect(await trail('fhir_export.read', patient)).toMatchObject([{ details: { kind: 'fhir_export', rows: 1 } }]);
  });
});
