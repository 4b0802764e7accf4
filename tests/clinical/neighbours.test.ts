import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { integrationSyncCompleted, labsVendorOrderStatusChanged } from '../../events/catalogue/integrations.js';
import {
  encounterRecorded,
  medicationPrescribed,
  patientCreated,
  patientUpdated,
  wearableSynced,
} from '../../events/catalogue/patient-graph.js';
import { until } from '../support/until.js';
import { Clinic, day, PROMPT_FLAG, T0 } from './clinic.js';
import { demographics, neighbours, unreachable } from './neighbours.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open(day(91));
  await clinic.flag(PROMPT_FLAG, true);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await clinic.leave();
});

const rows = <Row = any>(text: string, ...params: unknown[]): Promise<Row[]> => clinic.p.sql<Row>(text, params);
const some = (found: unknown[]): boolean => found.length > 0;

/** Waits until clinical has settled the newest event of a type about a patient. */
const settled = (type: string, patient: string): Promise<unknown> =>
  until(
    `${type} is handled`,
    () =>
      rows(
        `select i.event_id from events.outbox o join clinical.inbox i on i.event_id = o.id where o.seq = (select max(seq) from events.outbox where type = $1 and user_id = $2)`,
        type,
        patient,
      ),
    some,
  );

describe('a lab order under way', () => {
  const status = (patient: string, order: string, to: any, at: string) =>
    clinic.tell(
      'integrations',
      labsVendorOrderStatusChanged,
      { lab_order_id: order, vendor_order_ref: 'lab_1', from: null, to, changed_at: at },
      patient,
    );
  const specimen = randomUUID();
  const order = {
    labOrder: {
      specimens: [{ id: specimen }],
      items: [
        {
          test: {
            components: [{ biomarkerCode: 'ldl_c' }, { biomarkerCode: null }],
            includes: [{ components: [{ biomarkerCode: 'apob' }] }],
          },
        },
      ],
    },
  };
  const markers = (id: string) => rows('select code, until from clinical.lab_order_marker where lab_order_id = $1 order by code', id);

  test('marks its markers as in progress, so that no prompt goes out meanwhile, until it is completed', async () => {
    neighbours(clinic, { ClinicalLabOrder: order });
    const patient = await clinic.patient();
    const cycle = await clinic.cycle(patient);
    const id = randomUUID();
    await status(patient, id, 'collected', day(91));
    const marked = await until(
      'the markers',
      () => markers(id),
      found => found.length === 2,
    );
    expect(marked.map(row => [row.code, row.until.toISOString()])).toEqual([
      ['apob', day(112)],
      ['ldl_c', day(112)],
    ]);
    expect(await clinic.sweep()).toMatchObject({ prompted: 0, skipped_lab_in_progress: 1 });
    await status(patient, id, 'completed', day(91.5));
    await until(
      'the markers are gone',
      () => markers(id),
      found => found.length === 0,
    );
    expect(await clinic.sweep()).toMatchObject({ prompted: 1 });
    expect(await clinic.read(cycle.id)).toMatchObject({ status: 'prompted', prompt_count: 1 });
  });

  test('is asked of labs by a worker, again while labs does not answer, and for 21 days at most', async () => {
    const asked = neighbours(clinic, { ClinicalLabOrder: unreachable() });
    const patient = await clinic.patient();
    const id = randomUUID();
    await status(patient, id, 'ordered', day(91));
    const waiting = await until(
      'labs was asked',
      () => rows('select attempts, ask_at from clinical.lab_order_progress where lab_order_id = $1 and attempts > 0', id),
      some,
    );
    expect(waiting[0].ask_at.getTime()).toBeGreaterThan(Date.parse(day(91)));
    expect(asked).toContain('ClinicalLabOrder');
    vi.restoreAllMocks();
    neighbours(clinic, { ClinicalLabOrder: order });
    await clinic.clock(day(91.01));
    await until(
      'the markers',
      () => markers(id),
      found => found.length === 2,
    );
  });

  test('is not set back by a status that comes late or again', async () => {
    neighbours(clinic, { ClinicalLabOrder: order });
    const patient = await clinic.patient();
    const id = randomUUID();
    await status(patient, id, 'completed', day(91.2));
    await status(patient, id, 'processing', day(91.1));
    await settled('integration.labs_vendor.labs.order_status_changed.v1', patient);
    expect(await rows('select status from clinical.lab_order_progress where lab_order_id = $1', id)).toEqual([{ status: 'completed' }]);
    await until(
      'labs was asked',
      () => rows('select 1 from clinical.lab_order_draw where lab_order_id = $1 and draw_id = $2', id, specimen),
      some,
    );
    expect(await markers(id)).toEqual([]);
  });
});

describe('what patient-graph tells of a patient', () => {
  const updated = (patient: string, version: number) =>
    clinic.tell('patient-graph', patientUpdated, { patient_id: patient, changed: ['sex_at_birth'], version }, patient);
  const first = async (patient: string) => (await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}`)).body.data[0];

  test('lets the ranges of the last 24 months be judged again', async () => {
    const patient = clinic.stranger();
    await clinic.post(
      patient,
      { code: 'hdl_c', value: 45, unit: 'mg/dL', collectedAt: day(90) },
      { code: 'hdl_c', value: 45, unit: 'mg/dL', collectedAt: day(-700) },
    );
    expect(await first(patient)).toMatchObject({ range_basis: 'unqualified', interpretation: null });
    neighbours(clinic, {
      ClinicalDemographics: demographics({ sexAtBirth: 'FEMALE', birthDate: '1980-05-01', timeZone: 'Europe/Berlin' }),
    });
    await updated(patient, 2);
    await settled('patient_graph.patient.updated.v1', patient);
    const { data } = (await clinic.rest('GET', `/v1/biomarkers?user_id=${patient}`)).body;
    expect(data.map((row: any) => [row.range_basis, row.interpretation])).toEqual([
      ['qualified', 'l'],
      ['unqualified', null],
    ]);
    vi.restoreAllMocks();
    neighbours(clinic, { ClinicalDemographics: demographics({ sexAtBirth: 'MALE', birthDate: '1980-05-01', timeZone: null }) });
    await updated(patient, 3);
    await settled('patient_graph.patient.updated.v1', patient);
    expect(await first(patient)).toMatchObject({
      range_basis: 'qualified',
      interpretation: 'n',
      applied_range: { reference: { low: 40 } },
    });
    const trail = await rows(`select details from clinical.audit_log where action = 'observations.judged_again' and target = $1`, patient);
    expect(trail.map(row => row.details)).toEqual([{ rows: 1 }, { rows: 1 }]);
  });

  test('of demographics before a write chooses the ranges by sex and age; without an answer in 2 s only unqualified ones apply', async () => {
    const [known, unknown] = [clinic.stranger(), clinic.stranger()];
    neighbours(clinic, { ClinicalDemographics: demographics({ sexAtBirth: 'FEMALE', birthDate: '1980-05-01', timeZone: null }) });
    await clinic.post(known, { code: 'testosterone_total', value: 80, unit: 'ng/dL', collectedAt: day(90) });
    vi.restoreAllMocks();
    neighbours(clinic, { ClinicalDemographics: unreachable() });
    await clinic.post(unknown, { code: 'testosterone_total', value: 80, unit: 'ng/dL', collectedAt: day(90) });
    expect(await first(known)).toMatchObject({ range_basis: 'qualified', interpretation: 'h' });
    expect(await first(unknown)).toMatchObject({ range_basis: 'none', interpretation: null });
  });

  test('for the first time has results judged again that came before', async () => {
    const patient = clinic.stranger();
    neighbours(clinic, { ClinicalDemographics: demographics(null) });
    await clinic.post(patient, { code: 'hdl_c', value: 45, unit: 'mg/dL', collectedAt: day(90) });
    expect(await first(patient)).toMatchObject({ range_basis: 'unqualified' });
    vi.restoreAllMocks();
    neighbours(clinic, { ClinicalDemographics: demographics({ sexAtBirth: 'FEMALE', birthDate: '1980-05-01', timeZone: null }) });
    await clinic.tell('patient-graph', patientCreated, { patient_id: patient, source: 'signup' }, patient);
    await settled('patient_graph.patient.created.v1', patient);
    expect(await first(patient)).toMatchObject({ range_basis: 'qualified', interpretation: 'l' });
  });

  test('when it does not within 2 s, leaves a result with unqualified ranges', async () => {
    const asked = neighbours(clinic, { ClinicalDemographics: new Promise<object>(() => {}) });
    const patient = clinic.stranger();
    expect((await clinic.post(patient, { code: 'hdl_c', value: 45, unit: 'mg/dL', collectedAt: day(90) })).status).toBe(201);
    expect(asked).toEqual(['ClinicalDemographics']);
    expect(await first(patient)).toMatchObject({ range_basis: 'unqualified', interpretation: null });
  });

  test('of a prescription or encounter that contradicts a running protocol raises a red flag, once', async () => {
    const patient = await clinic.patient();
    neighbours(clinic, { ClinicalContraindications: { patient: { contraindicationCodes: [] } } });
    const flags = async () => (await clinic.rest('GET', `/v1/red-flags?user_id=${patient}`)).body.data;
    await clinic.tell(
      'patient-graph',
      medicationPrescribed,
      { medication_request_id: randomUUID(), medication: 'rxnorm:1', intent: 'order', authored_on: '2026-10-31' },
      patient,
    );
    await settled('patient_graph.medication.prescribed.v1', patient);
    expect(await flags()).toEqual([]);
    vi.restoreAllMocks();
    neighbours(clinic, { ClinicalContraindications: { patient: { contraindicationCodes: ['condition:pregnancy'] } } });
    const encounter = () =>
      clinic.tell(
        'patient-graph',
        encounterRecorded,
        { encounter_id: randomUUID(), encounter_class: 'virtual', period_start: T0, source: 'visit' },
        patient,
      );
    await encounter();
    await encounter();
    await settled('patient_graph.encounter.recorded.v1', patient);
    const [intervention] = (await clinic.rest('GET', `/v1/protocols?user_id=${patient}`)).body.data;
    expect(await flags()).toMatchObject([
      { rule: { key: 'contraindicated_intervention' }, severity: 'urgent', evidence: [intervention.id] },
    ]);
    expect(intervention.status).toBe('active'); // a clinician decides what becomes of it
  });

  test('of wearables feeds the red-flag rules: only the kinds that a rule names are asked for, and a batch twice is judged once', async () => {
    const patient = clinic.stranger();
    const summary = (date: string, value: number) => ({ date, kind: 'resting_heart_rate', value: { value } });
    const asked = neighbours(clinic, { ClinicalWearables: { wearableSummaries: [summary('2026-10-30', 130), summary('2026-10-29', 70)] } });
    const window = { window_start: day(89), window_end: day(90) };
    const synced = (kinds: string[]) =>
      clinic.tell(
        'patient-graph',
        wearableSynced,
        { batch_id: randomUUID(), provider: 'oura', kinds, sample_count: 3, ...window },
        patient,
      );
    await synced(['sleep']);
    await settled('patient_graph.wearable.synced.v1', patient);
    expect(asked).toEqual([]);
    await synced(['sleep', 'resting_heart_rate']);
    await settled('patient_graph.wearable.synced.v1', patient);
    const run = {
      connection_id: randomUUID(),
      provider: 'oura',
      run_id: randomUUID(),
      status: 'succeeded' as const,
      record_count: 3,
      kinds: ['resting_heart_rate'],
      ...window,
    };
    await clinic.tell('integrations', integrationSyncCompleted, run, patient);
    await settled('integration.sync.completed.v1', patient);
    const flags = (await clinic.rest('GET', `/v1/red-flags?user_id=${patient}`)).body.data;
    expect(flags).toMatchObject([{ rule: { key: 'sustained_high_heart_rate' }, source: 'wearable', severity: 'warning' }]);
    const told = await rows(`select data from events.outbox where type = 'clinical.red_flag.detected.v1' and user_id = $1`, patient);
    expect(JSON.stringify(told)).not.toContain('130');
    expect(told).toHaveLength(1);
  });
});

test('erasure takes what was kept of the orders, encounters and reports of neighbours', async () => {
  neighbours(clinic, {
    ClinicalLabOrder: { labOrder: { specimens: [{ id: randomUUID() }], items: [] } },
    ClinicalContraindications: { patient: null },
  });
  const patient = clinic.stranger();
  await clinic.tell(
    'integrations',
    labsVendorOrderStatusChanged,
    { lab_order_id: randomUUID(), vendor_order_ref: 'lab_1', from: null, to: 'received', changed_at: day(90) },
    patient,
  );
  await clinic.tell(
    'patient-graph',
    encounterRecorded,
    { encounter_id: randomUUID(), encounter_class: 'home', period_start: T0, source: 'import' },
    patient,
  );
  await settled('patient_graph.encounter.recorded.v1', patient);
  await until('the draw is known', () => rows('select 1 from clinical.lab_order_draw where patient_id = $1', patient), some);
  const { records } = (await clinic.rest('POST', '/v1/admin/erasure', { patient_id: patient })).body;
  expect(records).toMatchObject({ lab_order_progress: 1, lab_order_draw: 1, encounter_period: 1 });
});
