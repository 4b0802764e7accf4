import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import * as catalogue from '../../events/catalogue/partner.js';
import type { EventDefinition } from '../../events/define.js';
import { InterventionStatus as Status } from '../../subgraphs/clinical/entities/intervention.js';
import { triggerOf, type PartnerReportKind } from '../../subgraphs/clinical/rules/partner.js';
import { dosesOfDelivery } from '../../subgraphs/clinical/rules/vial.js';
import { until } from '../support/until.js';
import { Clinic, day } from './clinic.js';
import { demographics, neighbours } from './neighbours.js';

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open(day(0));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await clinic.leave();
});

const NOTHING_KNOWN = { ClinicalContraindications: { patient: null }, ClinicalDemographics: demographics(null) };

let reports = 0;
/** A report of the partner about a patient, and its end here. */
async function report(event: EventDefinition, patient: string, data: object, at = day(reports / 100)): Promise<void> {
  const partner_event_id = `evt_${++reports}`;
  const payload = { partner_event_id, partner_ref: 'pt_1', reported_at: at, ...data };
  await clinic.tell('partner', event, payload as never, patient);
  await until(
    `${event.name} is handled`,
    () =>
      clinic.p.sql(
        `select 1 from events.outbox o join clinical.inbox i on i.event_id = o.id where o.type = $1 and o.data->>'reported_at' = $2 and o.user_id = $3`,
        [event.name, payload.reported_at, patient],
      ),
    found => found.length > 0,
  );
}

const interventions = async (patient: string) => (await clinic.rest('GET', `/v1/protocols?user_id=${patient}`)).body.data;
const started = async (patient: string) =>
  clinic.p.sql(`select data from events.outbox where type = 'clinical.protocol.started.v1' and user_id = $1`, [patient]);

describe('a treatment of the telehealth partner', () => {
  const { partnerTreatmentCreated: created, partnerTreatmentApproved: approved, partnerTreatmentActive: active } = catalogue;
  const { partnerTreatmentPaused: paused, partnerTreatmentResumed: resumed, partnerTreatmentCancelled: cancelled } = catalogue;

  test('is an intervention of source PARTNER: created PROPOSED, approved ACTIVE, paused PAUSED, resumed ACTIVE, cancelled STOPPED', async () => {
    neighbours(clinic, {
      ...NOTHING_KNOWN,
      ClinicalDemographics: demographics({ sexAtBirth: 'MALE', birthDate: null, timeZone: 'America/New_York' }),
    });
    const patient = clinic.stranger();
    const [ref, program] = [`tr_${randomUUID()}`, 'lipid_reset'];
    const seen: string[] = [];
    const look = async () => seen.push((await interventions(patient))[0].status);
    await report(created, patient, { treatment_ref: ref, program });
    await look();
    expect(await interventions(patient)).toMatchObject([
      {
        kind: 'protocol',
        key: program,
        source: 'partner',
        partner_treatment_ref: ref,
        time_zone: 'America/New_York',
        definition_version: 1,
      },
    ]);
    expect(await started(patient)).toEqual([]);
    await report(approved, patient, { treatment_ref: ref, program, valid_until: null });
    await look();
    await report(active, patient, { treatment_ref: ref, program, started_on: '2026-08-02' });
    await report(paused, patient, { treatment_ref: ref, resumes_on: null });
    await look();
    await report(resumed, patient, { treatment_ref: ref });
    await look();
    await report(catalogue.partnerTreatmentUpdated, patient, { treatment_ref: ref, changed: ['dose_schedule'] });
    await report(catalogue.partnerTreatmentNeedsRenewal, patient, { treatment_ref: ref, due_on: '2026-12-05' });
    await report(cancelled, patient, { treatment_ref: ref, cancelled_by: 'member', reason: 'member_request' });
    await look();
    expect(seen).toEqual(['proposed', 'active', 'paused', 'active', 'stopped']);
    const [one, ...more] = await interventions(patient);
    expect(one).toMatchObject({ stop_reason: 'member_request', ended_at: expect.any(String) });
    expect(more).toEqual([]);
    expect((await started(patient)).map(row => row.data)).toMatchObject([{ protocol_id: one.id, protocol: program, version: 1 }]);
  });

  test('that expires stops; one that was never started is cancelled', async () => {
    neighbours(clinic, NOTHING_KNOWN);
    const [running, waiting] = [clinic.stranger(), clinic.stranger()];
    for (const patient of [running, waiting]) {
      const of = { treatment_ref: `tr_${patient}`, program: 'weight_care' };
      await report(created, patient, of);
      if (patient === running) await report(active, patient, { ...of, started_on: '2026-08-01' });
      await report(catalogue.partnerTreatmentExpired, patient, { treatment_ref: of.treatment_ref, expired_on: '2026-09-01' });
    }
    expect(await interventions(running)).toMatchObject([
      { status: 'stopped', stop_reason: 'expired', definition_version: null, phase: null },
    ]);
    expect(await interventions(waiting)).toMatchObject([{ status: 'cancelled' }]);
    expect((await started(running)).map(row => row.data)).toMatchObject([{ protocol: 'weight_care', version: 0 }]);
  });

  test('makes the intervention active that waits for a consult of the same program', async () => {
    neighbours(clinic, NOTHING_KNOWN);
    const patient = clinic.stranger();
    await clinic.rest('POST', '/v1/protocols', { user_id: patient, kind: 'protocol', key: 'thyroid_support' });
    expect(await interventions(patient)).toMatchObject([{ status: 'pending_consult', source: 'member' }]);
    await report(active, patient, { treatment_ref: `tr_${patient}`, program: 'thyroid_support', started_on: '2026-08-01' });
    expect(await interventions(patient)).toMatchObject([{ status: 'active', partner_treatment_ref: `tr_${patient}` }]);
  });

  test('follows the consult: approved starts it, denied ends it, anything else is noted', async () => {
    neighbours(clinic, NOTHING_KNOWN);
    const outcome = (patient: string, word: string) =>
      report(catalogue.partnerConsultOutcome, patient, { consult_ref: 'cs_1', outcome: word, treatment_ref: `tr_${patient}` });
    const statuses: string[] = [];
    for (const word of ['approved', 'denied', 'more_info']) {
      const patient = clinic.stranger();
      await report(created, patient, { treatment_ref: `tr_${patient}`, program: 'weight_care' });
      await outcome(patient, word);
      await report(catalogue.partnerConsultationCompleted, patient, { consult_ref: 'cs_1', completed_at: day(1) });
      statuses.push((await interventions(patient))[0].status);
      const trail = await clinic.p.sql(
        `select action from clinical.audit_log where target = $1 and action like 'partner_consult%' order by id`,
        [patient],
      );
      expect(trail.map(row => row.action)).toEqual(['partner_consult.decided', 'partner_consultation.completed']);
    }
    expect(statuses).toEqual(['active', 'cancelled', 'proposed']);
  });

  test('reported twice or late changes nothing; one of nobody is left alone', async () => {
    neighbours(clinic, NOTHING_KNOWN);
    const patient = clinic.stranger();
    const of = { treatment_ref: `tr_${patient}`, program: 'weight_care' };
    await report(active, patient, { ...of, started_on: '2026-08-01' }, day(5));
    await report(paused, patient, { treatment_ref: of.treatment_ref, resumes_on: null }, day(4));
    expect(await interventions(patient)).toMatchObject([{ status: 'active' }]);
    const repeated = { partner_event_id: `again_${patient}`, treatment_ref: of.treatment_ref, resumes_on: null };
    await report(paused, patient, repeated, day(6));
    await report(resumed, patient, { treatment_ref: of.treatment_ref }, day(7));
    await report(paused, patient, repeated, day(8));
    expect(await interventions(patient)).toMatchObject([{ status: 'active' }]);
  });

  test('that clinical had not heard of is asked of partner', async () => {
    const patient = clinic.stranger();
    const treatment = { treatmentRef: `tr_${patient}`, startedOn: '2026-08-01', program: { key: 'lipid_reset' }, orders: [] };
    neighbours(clinic, { ...NOTHING_KNOWN, ClinicalPartnerTreatments: { partnerTreatments: { nodes: [treatment] } } });
    await report(resumed, patient, { treatment_ref: treatment.treatmentRef });
    expect(await interventions(patient)).toMatchObject([{ status: 'active', key: 'lipid_reset', source: 'partner' }]);
    const unknown = clinic.stranger();
    await report(paused, unknown, { treatment_ref: 'tr_nowhere', resumes_on: null });
    expect(await interventions(unknown)).toEqual([]);
  });

  test('that is contraindicated stays a proposal, and a clinician is told by a red flag', async () => {
    neighbours(clinic, { ...NOTHING_KNOWN, ClinicalContraindications: { patient: { contraindicationCodes: ['condition:pregnancy'] } } });
    const patient = clinic.stranger();
    await report(active, patient, { treatment_ref: `tr_${patient}`, program: 'lipid_reset', started_on: '2026-08-01' });
    const [one] = await interventions(patient);
    expect(one.status).toBe('proposed');
    const flags = (await clinic.rest('GET', `/v1/red-flags?user_id=${patient}`)).body.data;
    expect(flags).toMatchObject([{ rule: { key: 'contraindicated_intervention' }, severity: 'urgent', evidence: [one.id] }]);
  });
});

test("a delivery of the partner brings a vial of each of the treatment's products, once per order", async () => {
  const patient = clinic.stranger();
  const order = `or_${patient}`;
  const treatment = { treatmentRef: `tr_${patient}`, startedOn: null, program: { key: 'lipid_reset' }, orders: [{ orderRef: order }] };
  neighbours(clinic, { ...NOTHING_KNOWN, ClinicalPartnerTreatments: { partnerTreatments: { nodes: [treatment] } } });
  await report(catalogue.partnerTreatmentActive, patient, {
    treatment_ref: treatment.treatmentRef,
    program: 'lipid_reset',
    started_on: '2026-08-01',
  });
  await report(catalogue.partnerOrderDelivered, patient, { order_ref: order, delivered_at: day(2) });
  await report(catalogue.partnerOrderDelivered, patient, { order_ref: order, delivered_at: day(2) });
  await report(catalogue.partnerOrderDelivered, patient, { order_ref: 'or_of_nothing', delivered_at: day(2) });
  const vials = (await clinic.rest('GET', `/v1/vials?user_id=${patient}`)).body.data;
  const [one] = await interventions(patient);
  expect(vials).toMatchObject([
    { product_code: 'fibre_pack', status: 'new', intervention_id: one.id, doses_planned: 4, expires_on: '2026-11-01' },
  ]);
  const told = await clinic.p.sql(`select data from events.outbox where type = 'clinical.vial.created.v1' and user_id = $1`, [patient]);
  expect(told.map(row => row.data)).toMatchObject([{ vial_id: vials[0].id, protocol_id: one.id }]);
});

describe('rules', () => {
  const NEXT: Record<PartnerReportKind, Partial<Record<Status, string>>> = {
    created: {},
    approved: { [Status.PROPOSED]: 'start_by_partner', [Status.PENDING_CONSULT]: 'start_by_partner', [Status.PAUSED]: 'resume' },
    active: { [Status.PROPOSED]: 'start_by_partner', [Status.PENDING_CONSULT]: 'start_by_partner', [Status.PAUSED]: 'resume' },
    resumed: { [Status.PROPOSED]: 'start_by_partner', [Status.PENDING_CONSULT]: 'start_by_partner', [Status.PAUSED]: 'resume' },
    paused: { [Status.ACTIVE]: 'pause' },
    cancelled: { [Status.PROPOSED]: 'stop', [Status.PENDING_CONSULT]: 'stop', [Status.ACTIVE]: 'stop', [Status.PAUSED]: 'stop' },
    expired: { [Status.PROPOSED]: 'stop', [Status.PENDING_CONSULT]: 'stop', [Status.ACTIVE]: 'stop', [Status.PAUSED]: 'stop' },
    denied: { [Status.PROPOSED]: 'stop', [Status.PENDING_CONSULT]: 'stop' },
  };
  const pairs = Object.keys(NEXT).flatMap(kind => Object.values(Status).map(status => [kind as PartnerReportKind, status] as const));
  test.each(pairs)('%s of a %s intervention', (kind, status) => expect(triggerOf(kind, status)).toBe(NEXT[kind][status] ?? null));

  test('a delivery is for the doses of 28 days', () => {
    const dose = (timing: object, timesOfDay: string[]) => ({
      productCode: 'a',
      quantity: { value: 1, unit: 'mg' },
      route: 'sc',
      timing,
      timesOfDay,
    });
    const phase = (...doses: ReturnType<typeof dose>[]) => ({ name: 'x', startDay: 0, endDay: 28, doses, checkIns: [] });
    expect(dosesOfDelivery([phase(dose({}, ['08:00', '20:00']))], 'a')).toBe(56);
    expect(dosesOfDelivery([phase(dose({ repeat: { period: 1, periodUnit: 'wk' } }, ['08:00']))], 'a')).toBe(4);
    expect(dosesOfDelivery([], 'a')).toBe(1);
  });
});
