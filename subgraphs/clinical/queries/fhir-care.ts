import { CheckIn } from '../entities/check-in.js';
import { Consult } from '../entities/consult.js';
import { CriticalAlert } from '../entities/critical-alert.js';
import { DoseLog } from '../entities/dose.js';
import { RedFlag } from '../entities/red-flag.js';
import { Vial } from '../entities/vial.js';
import { encounterStatus, ownCode, present, quantity, reference, type Resource, STATUS, subjectOf } from '../rules/fhir.js';
import type { Export } from './fhir-resources.js';

export const flag = (row: RedFlag): Resource =>
  present({
    resourceType: 'Flag',
    id: row.id,
    status: STATUS.flag[row.status],
    category: [ownCode('severity', row.severity)],
    code: ownCode('red_flag', row.ruleKey, row.ruleKey),
    subject: subjectOf(row.patientId),
    period: present({ start: row.detectedAt.toISOString(), end: row.resolvedAt?.toISOString() ?? null }),
  });

export const issue = ({ release }: Export, row: CriticalAlert): Resource => ({
  resourceType: 'DetectedIssue',
  id: row.id,
  status: STATUS.alert[row.status],
  code: ownCode('critical_alert', row.severity),
  severity: 'high',
  [release === 'R5' ? 'subject' : 'patient']: subjectOf(row.patientId),
  identifiedDateTime: row.createdAt.toISOString(),
  implicated: [reference('Observation', row.observationId)],
});

const VIRTUAL = { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'VR', display: 'virtual' };

export const encounter = ({ release }: Export, row: Consult): Resource => {
  const period = present({ start: row.createdAt.toISOString(), end: row.signedAt?.toISOString() ?? null });
  return {
    resourceType: 'Encounter',
    id: row.id,
    status: encounterStatus(row.status, release),
    class: release === 'R5' ? [{ coding: [VIRTUAL] }] : VIRTUAL,
    type: [ownCode('consult', row.type)],
    subject: subjectOf(row.patientId),
    [release === 'R5' ? 'actualPeriod' : 'period']: period,
  };
};

const answerOf = (value: unknown): object =>
  typeof value === 'boolean'
    ? { valueBoolean: value }
    : typeof value === 'number'
      ? { valueDecimal: value }
      : { valueString: String(value) };

export const questionnaire = ({ ctx }: Export, row: CheckIn): Resource =>
  present({
    resourceType: 'QuestionnaireResponse',
    id: row.id,
    questionnaire: `${ctx.host.config.baseUrl}/clinical/fhir/Questionnaire/${row.templateKey}`,
    status: STATUS.checkIn[row.status],
    subject: subjectOf(row.patientId),
    authored: (row.submittedAt ?? row.dueAt).toISOString(),
    item: Object.entries(row.open(ctx) ?? {}).flatMap(([linkId, value]) =>
      value === null || value === '' ? [] : [{ linkId, answer: [answerOf(value)] }],
    ),
  });

export const medication = (row: Vial): Resource =>
  present({
    resourceType: 'Medication',
    id: row.id,
    code: ownCode('product', row.productCode),
    status: row.status === 'discarded' ? 'inactive' : 'active',
    batch: present({ lotNumber: row.lot, expirationDate: row.expiresOn }),
  });

/** A dose that was taken, skipped or missed; one that is planned has not happened. */
export function administration({ ctx, release }: Export, row: DoseLog): Resource[] {
  const status = STATUS.dose[row.status];
  if (status === null) return [];
  const { quantity: given } = row.open(ctx);
  const vial = row.vialId ? reference('Medication', row.vialId) : null;
  const code = ownCode('product', row.productCode);
  const what =
    release === 'R5'
      ? { medication: vial ? { reference: vial } : { concept: code } }
      : vial
        ? { medicationReference: vial }
        : { medicationCodeableConcept: code };
  return [
    present({
      resourceType: 'MedicationAdministration',
      id: row.id,
      status,
      subject: subjectOf(row.patientId),
      ...what,
      [release === 'R5' ? 'occurenceDateTime' : 'effectiveDateTime']: (row.takenAt ?? row.scheduledFor).toISOString(),
      dosage: given && row.status === 'taken' ? { dose: quantity(given.value, given.unit) } : null,
    }),
  ];
}
