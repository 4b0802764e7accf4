import { newId } from '../../../runtime/data/ids.js';
import { findRow, FOR_UPDATE, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { BiomarkerObservation, BiomarkerObservationStatus as Status } from '../entities/observation.js';
import { CorrectObservationInput } from '../inputs/observation.js';
import { demographicsOf } from '../ports/demographics.js';
import { lockPatient } from '../queries/patient.js';
import type { Demographics } from '../rules/demographics.js';
import { scoreLater } from './health-score.js';
import { type Incoming, storeResults } from './observation-store.js';
import { adjustCycles, replace, settleConflict } from './observation-succession.js';

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
