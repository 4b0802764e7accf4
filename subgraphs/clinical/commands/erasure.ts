import type { EntityClass } from '@mikro-orm/postgresql';
import { eraseUser, type ErasureOutcome, type ErasureRequest } from '../../../runtime/erasure/erasure.js';
import type { Context } from '../../../runtime/request/context.js';
import { CheckIn } from '../entities/check-in.js';
import { Consult } from '../entities/consult.js';
import { CriticalAlert } from '../entities/critical-alert.js';
import { DoseLog } from '../entities/dose.js';
import { ClinicalErasure } from '../entities/erasure.js';
import { FhirExport } from '../entities/fhir-export.js';
import { HealthScore, HealthScoreDue } from '../entities/health-score.js';
import { Intervention } from '../entities/intervention.js';
import { LabOrderDraw, LabOrderMarker, LabOrderProgress } from '../entities/lab-order.js';
import { LabDocument, LabReport } from '../entities/lab-report.js';
import { EncounterPeriod, PartnerReport } from '../entities/neighbours.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { RedFlag } from '../entities/red-flag.js';
import { ReportRow } from '../entities/report-row.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { Vial } from '../entities/vial.js';
import { WaitingEvent } from '../entities/waiting-event.js';
import { EraseClinicalRecordInput } from '../inputs/erasure.js';
import { lockPatient } from '../queries/patient.js';
import { basisOf, retainConsults } from './consult.js';

/** Every table that is keyed by `patient_id`; what refers to something before it. */
const TABLES: Readonly<Record<string, EntityClass<{ patientId: string }>>> = {
  waiting_event: WaitingEvent,
  retest_cycle: RetestCycle,
  critical_alert: CriticalAlert,
  red_flag: RedFlag,
  consult: Consult,
  check_in: CheckIn,
  dose_log: DoseLog,
  vial: Vial,
  health_score: HealthScore,
  health_score_due: HealthScoreDue,
  observation: BiomarkerObservation,
  report_row: ReportRow,
  lab_document: LabDocument,
  lab_report: LabReport,
  intervention: Intervention,
  lab_order_marker: LabOrderMarker,
  lab_order_progress: LabOrderProgress,
  lab_order_draw: LabOrderDraw,
  encounter_period: EncounterPeriod,
  partner_report: PartnerReport,
  fhir_export: FhirExport,
};

/**
 * Deletes all rows of a patient, cycles included, in one transaction; what is left are counts in the audit log. A handler or sweep
 * that comes later finds nothing. Signed consults that the operator must keep stay without whose they were and what was written in them.
 * Source: spec 1, Re-test cycle 8; clinical 7.1.17.
 */
export async function deleteRecord(ctx: Context, { userId }: Pick<ErasureRequest, 'userId'>): Promise<ErasureOutcome> {
  await lockPatient(ctx, userId);
  const retained = await retainConsults(ctx, userId);
  const records: Record<string, number> = {};
  for (const [table, entity] of Object.entries(TABLES)) records[table] = await ctx.em.nativeDelete(entity, { patientId: userId });
  const held = Object.values(records).some(count => count > 0);
  if (retained > 0) return { outcome: 'retained', basis: basisOf(ctx), records: { ...records, retained_consult: retained } };
  return { outcome: held ? 'erased' : 'nothing_held', records };
}

/** Deletes a patient's clinical record on demand and proves it in the audit log. Again: nothing is left to delete. */
export async function eraseClinicalRecord(ctx: Context, input: EraseClinicalRecordInput): Promise<ClinicalErasure> {
  const patientId = input.patientId.toLowerCase();
  const request = { userId: patientId, requestId: ctx.request.id, scope: 'health' } as const;
  const { outcome, records, basis = null } = await eraseUser(ctx, deleteRecord, request);
  return { patientId, outcome, records, basis };
}
