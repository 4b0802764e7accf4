import { newId } from '../../../runtime/data/ids.js';
import { findRow, FOR_UPDATE, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import {
  BiomarkerObservation,
  BiomarkerObservationSource as Source,
  BiomarkerObservationStatus as Status,
} from '../entities/observation.js';
import { ValueRange } from '../entities/units.js';
import { CorrectObservationInput, ObservationInput, RecordMyObservationInput, RecordObservationsInput } from '../inputs/observation.js';
import { demographicsOf } from '../ports/demographics.js';
import { lockPatient } from '../queries/patient.js';
import type { Demographics } from '../rules/demographics.js';
import { scoreLater } from './health-score.js';
import { type Incoming, storeResults } from './observation-store.js';
import { adjustCycles, replace, settleConflict } from './observation-succession.js';

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

/** The row that a change is about, locked with its patient. @throws Problem not_found, conflict when it does not stand any more. */
async function lockStanding(ctx: Context, id: string, verb: string): Promise<BiomarkerObservation> {
  const row = await requireRow(ctx, BiomarkerObservation, { id });
  await lockPatient(ctx, row.patientId);
  await ctx.em.refresh(row, FOR_UPDATE);
  if (row.supersededBy !== null) fail('conflict', `a corrected observation cannot be ${verb}`, { reason: 'superseded' });
  if (row.status === Status.ENTERED_IN_ERROR) fail('conflict', `an observation entered in error cannot be ${verb}`);
  return row;
}

/** The corrected result; draw, time, source and laboratory stay. */
const correctionOf = (row: BiomarkerObservation, input: CorrectObservationInput): Incoming => ({
  name: row.code,
  value: input.value ?? null,
  unit: input.unit ?? null,
  comparator: input.comparator ?? null,
  textValue: input.textValue ?? null,
  collectedAt: row.collectedAt,
  drawId: row.drawId,
  source: row.source,
  status: Status.CORRECTED,
  performer: row.performer,
  method: row.method,
  sourceRef: input.sourceRef ?? null,
  referenceRange: null,
  confirmed: input.confirmed,
  at: '/input',
  reportId: row.reportId,
  verified: true,
  supersedes: row,
});

/** Demographics of the patient whose result is corrected; a result that is not there is refused later. */
export const correctFacts = preparation(async (ctx, { input }: { input: CorrectObservationInput }) => {
  const row = await findRow(ctx, BiomarkerObservation, { id: input.id });
  return row && demographicsOf(ctx, row.patientId);
});

/** Replaces a result by a corrected one. Open re-test cycles take it; closed ones keep what was published. @param demographics of {@link correctFacts}. */
export async function correctObservation(
  ctx: Context,
  input: CorrectObservationInput,
  demographics: Demographics | null,
): Promise<BiomarkerObservation> {
  const row = await lockStanding(ctx, input.id, 'corrected');
  await replace(ctx, [row], newId());
  const [fresh] = await storeResults(ctx, row.patientId, [correctionOf(row, input)], demographics);
  if (fresh!.supersedes !== row.id) fail('conflict', 'A source reference was used for another result', { reason: 'source_ref_taken' });
  row.supersededBy = fresh!.id;
  await ctx.em.flush();
  await adjustCycles(ctx, row, fresh!);
  ctx.audit('observation.corrected', fresh!.id, { supersedes: row.id });
  return fresh!;
}

/** What a withdrawal keeps of the row. */
const KEPT = [
  'patientId',
  'biomarkerId',
  'code',
  'canonicalAmount',
  'collectedAt',
  'drawId',
  'source',
  'performer',
  'method',
  'reportId',
  'verification',
  'hiddenUntil',
] as const satisfies readonly (keyof BiomarkerObservation)[];

/** What stands for a withdrawn row: the same result, entered in error; nothing is overwritten. */
function tombstone(ctx: Context, row: BiomarkerObservation): BiomarkerObservation {
  const gone = Object.assign(new BiomarkerObservation(), {
    ...Object.fromEntries(KEPT.map(name => [name, row[name]])),
    receivedAt: ctx.now(),
    status: Status.ENTERED_IN_ERROR,
    supersedes: row.id,
  });
  gone.seal(ctx, row.open(ctx));
  return gone;
}

/** Withdraws a result that was entered in error; its row stays, marked. */
export async function retractObservation(ctx: Context, id: string): Promise<BiomarkerObservation> {
  const row = await lockStanding(ctx, id, 'retracted');
  const gone = tombstone(ctx, row);
  await replace(ctx, [row], gone.id);
  await ctx.em.persist(gone).flush();
  await settleConflict(ctx, row);
  await adjustCycles(ctx, row, null);
  await scoreLater(ctx, row.patientId);
  ctx.audit('observation.retracted', row.id, { by: gone.id });
  return gone;
}
