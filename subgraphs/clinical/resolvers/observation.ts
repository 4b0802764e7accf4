import type { FilterQuery } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { type Incoming, storeResults } from '../commands/observation-store.js';
import { auditRead } from '../commands/read-audit.js';
import { Biomarker, type UnitSystem } from '../entities/biomarker.js';
import {
  BiomarkerObservation,
  BiomarkerObservationSource as Source,
  BiomarkerObservationStatus as Status,
  ObservationConnection,
} from '../entities/observation.js';
import { heldBack, isHeldBack, visibleRows } from '../entities/value-access.js';
import {
  MyObservationsArgs,
  ObservationInput,
  ObservationsArgs,
  RecordMyObservationInput,
  RecordObservationsInput,
} from '../inputs/observation.js';
import { demographicsOf } from '../ports/demographics.js';
import { findMarkers, loadMarker } from '../queries/dictionary.js';
import { loadHistory } from '../queries/observation-chain.js';
import { pageOfPatient } from '../queries/pages.js';
import { lockPatient } from '../queries/patient.js';
import type { Demographics } from '../rules/demographics.js';

const range = (input: ObservationInput['referenceRange']) => (input == null ? null : { low: input.low ?? null, high: input.high ?? null });

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
  referenceRange: range(row.referenceRange),
  confirmed: row.confirmed,
  at,
});

/** Of what fits, the newest draw of each patient and code. */
async function newestIds(ctx: Context, fitting: FilterQuery<BiomarkerObservation>): Promise<string[]> {
  const rows = ctx.em.createQueryBuilder(BiomarkerObservation, 'o').select(['o.id', 'o.patientId', 'o.code', 'o.collectedAt']);
  const found = await ctx.sql<{ id: string }>(
    `select distinct on (patient_id, code) id from (${rows.where(fitting as never).getFormattedQuery()}) fitting
     order by patient_id, code, collected_at desc, id desc`,
  );
  return found.map(row => row.id);
}

async function filterOf(ctx: Context, patientIds: readonly string[], args: MyObservationsArgs): Promise<FilterQuery<BiomarkerObservation>> {
  const markers = args.codes && (await findMarkers(ctx, args.codes));
  const collectedAt = { ...(args.from && { $gte: args.from }), ...(args.to && { $lte: args.to }) };
  const fitting = {
    patientId: { $in: [...patientIds] },
    supersededBy: null,
    status: { $ne: Status.ENTERED_IN_ERROR },
    ...heldBack(ctx),
    ...(markers && { code: { $in: [...markers.values()].map(one => one.code) } }),
    ...(args.source && { source: args.source }),
    ...(args.sourceRefs && { sourceRef: { $in: args.sourceRefs } }),
    ...(Object.keys(collectedAt).length && { collectedAt }),
  } as FilterQuery<BiomarkerObservation>;
  return args.latest ? { id: { $in: await newestIds(ctx, fitting) } } : fitting;
}

/** The same row, showing its value in a unit system; the row itself is shared by all of the request. */
const shownIn = (row: BiomarkerObservation, system: UnitSystem): BiomarkerObservation =>
  Object.create(row, { shownIn: { value: system } }) as BiomarkerObservation;

/** A patient's results that stand, newest draw first; in the request's batch. */
export async function listObservations(
  ctx: Context,
  patientId: string,
  args: MyObservationsArgs,
): Promise<Connection<BiomarkerObservation>> {
  const where = (patientIds: readonly string[]) => filterOf(ctx, patientIds, args);
  const found = await pageOfPatient(
    ctx,
    { entity: BiomarkerObservation, time: 'collectedAt', name: 'observations', where },
    patientId,
    args,
  );
  await auditRead(ctx, 'observations', found.nodes);
  const { unitSystem } = args;
  return unitSystem ? { ...found, nodes: found.nodes.map(row => shownIn(row, unitSystem)) } : found;
}

@Resolver(() => BiomarkerObservation)
export class ObservationResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['patient-graph'] })
  @Query(() => ObservationConnection, { description: "A patient's results, newest draw first." })
  observations(
    @Args(() => ObservationsArgs) { userId, ...args }: ObservationsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<BiomarkerObservation>> {
    return listObservations(ctx, userId.toLowerCase(), args);
  }

  @Access({ user: 'read:biomarkers' })
  @Query(() => ObservationConnection, { description: 'Own results, newest draw first.' })
  myObservations(@Args(() => MyObservationsArgs) args: MyObservationsArgs, @Ctx() ctx: Context): Promise<Connection<BiomarkerObservation>> {
    return listObservations(ctx, ctx.caller.userId!, args);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', user: 'read:biomarkers' })
  @Query(() => BiomarkerObservation, { nullable: true, description: 'One result.' })
  async observation(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<BiomarkerObservation | null> {
    const row = isUuid(id) ? await ctx.em.findOne(BiomarkerObservation, { id, ...visibleRows(ctx.caller), ...heldBack(ctx) }) : null;
    if (row) await auditRead(ctx, 'observations', [row]);
    return row;
  }

  @FieldResolver(() => Biomarker, { nullable: true, description: 'Its entry of the dictionary, in the version in force.' })
  biomarker(@Root() observation: BiomarkerObservation, @Ctx() ctx: Context): Promise<Biomarker | null> {
    return loadMarker(ctx, observation.code);
  }

  @FieldResolver(() => [BiomarkerObservation], { description: 'Rows that it corrects, newest first.' })
  async history(@Root() observation: BiomarkerObservation, @Ctx() ctx: Context): Promise<BiomarkerObservation[]> {
    const rows = (await loadHistory(ctx, observation.id)) ?? [];
    return rows.filter(row => !isHeldBack(ctx, row));
  }

  @Access({ service: 'admin:clinical', internal: ['patient-graph'] })
  @Prepare((ctx, { input }: { input: RecordObservationsInput }) => demographicsOf(ctx, input.userId.toLowerCase()))
  @Mutation(() => [BiomarkerObservation], {
    description:
      'Stores 1 to 200 results of a patient, all or none. A repeated source reference with the same content gives the stored row.',
  })
  async recordObservations(
    @Arg('input', () => RecordObservationsInput) input: RecordObservationsInput,
    @Ctx() ctx: Context,
  ): Promise<BiomarkerObservation[]> {
    const patientId = input.userId.toLowerCase();
    await lockPatient(ctx, patientId);
    const stored = await storeResults(
      ctx,
      patientId,
      input.observations.map((row, index) => incoming(row, `/input/observations/${index}`)),
      ctx.facts as Demographics | null,
    );
    ctx.audit('observations.recorded', patientId, { rows: stored.length });
    return stored;
  }

  @Access({ user: 'write:biomarkers' })
  @Prepare(ctx => demographicsOf(ctx, ctx.caller.userId!))
  @Mutation(() => BiomarkerObservation, { description: 'Stores an own result, of source MANUAL.' })
  async recordMyObservation(
    @Arg('input', () => RecordMyObservationInput) input: RecordMyObservationInput,
    @Ctx() ctx: Context,
  ): Promise<BiomarkerObservation> {
    const patientId = ctx.caller.userId!;
    await lockPatient(ctx, patientId);
    const row = incoming({ ...input, source: Source.MANUAL, status: Status.FINAL }, '/input');
    const [stored] = await storeResults(ctx, patientId, [row], ctx.facts as Demographics | null);
    ctx.audit('observations.recorded', patientId, { rows: 1 });
    return stored!;
  }
}
