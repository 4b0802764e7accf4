import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { BiomarkerObservation, BiomarkerObservationStatus as Status, sealContext } from '../entities/observation.js';
import { CorrectObservationInput, RetractObservationInput } from '../inputs/observation.js';
import { demographicsOf } from '../ports/demographics.js';
import type { Demographics } from '../rules/demographics.js';
import { storeResults, type Incoming } from '../commands/observation-store.js';
import { adjustCycles, replace, settleConflict } from '../commands/observation-succession.js';
import { lockPatient } from '../queries/patient.js';
import { scoreLater } from '../commands/health-score-due.js';

/** Whose demographics a correction needs; what is not there is refused later. */
async function demographicsOfRow(ctx: Context, { input }: { input: CorrectObservationInput }): Promise<Demographics | null> {
  const row = isUuid(input.id) ? await ctx.em.findOne(BiomarkerObservation, { id: input.id.toLowerCase() }) : null;
  return row && demographicsOf(ctx, row.patientId);
}

/** The row that a change is about, locked with its patient. @throws Problem not_found, conflict when it does not stand any more. */
async function standing(ctx: Context, id: string, verb: string): Promise<BiomarkerObservation> {
  const found = isUuid(id) ? await ctx.em.findOne(BiomarkerObservation, { id: id.toLowerCase() }) : null;
  const row = found ?? fail('not_found', 'Not found');
  await lockPatient(ctx, row.patientId);
  await ctx.em.refresh(row, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (row.supersededBy !== null) fail('conflict', `a corrected observation cannot be ${verb}`, { reason: 'superseded' });
  if (row.status === Status.ENTERED_IN_ERROR) fail('conflict', `an observation entered in error cannot be ${verb}`);
  return row;
}

const correction = (row: BiomarkerObservation, input: CorrectObservationInput): Incoming => ({
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

/** What stands for a withdrawn row: the same result, entered in error; nothing is overwritten. */
function tombstone(ctx: Context, row: BiomarkerObservation, id: string): BiomarkerObservation {
  const {
    patientId,
    biomarkerId,
    code,
    canonicalAmount,
    collectedAt,
    drawId,
    source,
    performer,
    method,
    reportId,
    verification,
    hiddenUntil,
  } = row;
  const resultSealed = ctx.host.sealer.seal(JSON.stringify(row.open(ctx)), sealContext(id));
  return Object.assign(new BiomarkerObservation(), {
    id,
    patientId,
    biomarkerId,
    code,
    canonicalAmount,
    collectedAt,
    drawId,
    source,
    performer,
    method,
    reportId,
    verification,
    hiddenUntil,
    resultSealed,
    receivedAt: ctx.now(),
    status: Status.ENTERED_IN_ERROR,
    supersedes: row.id,
  });
}

@Resolver()
export class ObservationChangeResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results' })
  @Prepare(demographicsOfRow)
  @Mutation(() => BiomarkerObservation, {
    description: 'Replaces a result by a corrected one. Open re-test cycles take it; closed ones keep what was published.',
  })
  async correctObservation(
    @Arg('input', () => CorrectObservationInput) input: CorrectObservationInput,
    @Ctx() ctx: Context,
  ): Promise<BiomarkerObservation> {
    const row = await standing(ctx, input.id, 'corrected');
    await replace(ctx, [row], newId());
    const [fresh] = await storeResults(ctx, row.patientId, [correction(row, input)], ctx.facts as Demographics | null);
    if (fresh!.supersedes !== row.id) fail('conflict', 'A source reference was used for another result', { reason: 'source_ref_taken' });
    row.supersededBy = fresh!.id;
    await ctx.em.flush();
    await adjustCycles(ctx, row, fresh!);
    ctx.audit('observation.corrected', fresh!.id, { supersedes: row.id });
    return fresh!;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:results' })
  @Mutation(() => BiomarkerObservation, { description: 'Withdraws a result that was entered in error; its row stays, marked.' })
  async retractObservation(
    @Arg('input', () => RetractObservationInput) input: RetractObservationInput,
    @Ctx() ctx: Context,
  ): Promise<BiomarkerObservation> {
    const row = await standing(ctx, input.id, 'retracted');
    const gone = tombstone(ctx, row, newId());
    await replace(ctx, [row], gone.id);
    await ctx.em.persist(gone).flush();
    await settleConflict(ctx, row);
    await adjustCycles(ctx, row, null);
    await scoreLater(ctx, row.patientId);
    ctx.audit('observation.retracted', row.id, { by: gone.id });
    return gone;
  }
}
