import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { ValueRange } from '../entities/biomarker.js';
import {
  BiomarkerObservation,
  BiomarkerObservationSource as Source,
  BiomarkerObservationStatus as Status,
} from '../entities/observation.js';
import { ObservationInput, RecordMyObservationInput, RecordObservationsInput } from '../inputs/observation.js';
import { demographicsOf } from '../ports/demographics.js';
import { lockPatient } from '../queries/patient.js';
import type { Demographics } from '../rules/demographics.js';
import { type Incoming, storeResults } from './observation-store.js';

const rangeOf = (input: ObservationInput['referenceRange']): ValueRange | null =>
  input == null ? null : { low: input.low ?? null, high: input.high ?? null };

/** A result as it was sent. @param at pointer of its row. */
const incoming = (row: ObservationInput, at: string): Incoming => ({
  name: row.code,
  value: row.value ?? null,
  unit: row.unit ?? null,
  comparator: row.comparator ?? null,
  textValue: row.textValue ?? null,
  collectedAt: row.collectedAt,
  drawId: row.drawId?.toLowerCase() ?? null,
  source: row.source,
  status: row.status,
  performer: row.performer ?? null,
  method: row.method ?? null,
  sourceRef: row.sourceRef ?? null,
  referenceRange: rangeOf(row.referenceRange),
  confirmed: row.confirmed,
  at,
});

/** Demographics of the patient whose results come in. */
export const recordFacts = preparation((ctx, { input }: { input: RecordObservationsInput }) =>
  demographicsOf(ctx, input.userId.toLowerCase()),
);

/** Stores 1 to 200 results of a patient, all or none. @param demographics of {@link recordFacts}. */
export async function recordObservations(
  ctx: Context,
  input: RecordObservationsInput,
  demographics: Demographics | null,
): Promise<BiomarkerObservation[]> {
  const patientId = input.userId.toLowerCase();
  await lockPatient(ctx, patientId);
  const rows = input.observations.map((row, index) => incoming(row, `/input/observations/${index}`));
  const stored = await storeResults(ctx, patientId, rows, demographics);
  ctx.audit('observations.recorded', patientId, { rows: stored.length });
  return stored;
}

/** Demographics of the caller. */
export const recordOwnFacts = preparation(ctx => demographicsOf(ctx, ctx.caller.userId!));

/** Stores an own result, of source MANUAL. @param demographics of {@link recordOwnFacts}. */
export async function recordMyObservation(
  ctx: Context,
  input: RecordMyObservationInput,
  demographics: Demographics | null,
): Promise<BiomarkerObservation> {
  const patientId = ctx.caller.userId!;
  await lockPatient(ctx, patientId);
  const row = incoming({ ...input, source: Source.MANUAL, status: Status.FINAL }, '/input');
  const [stored] = await storeResults(ctx, patientId, [row], demographics);
  ctx.audit('observations.recorded', patientId, { rows: 1 });
  return stored!;
}
