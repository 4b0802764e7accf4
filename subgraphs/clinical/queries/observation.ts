import type { FilterQuery } from '@mikro-orm/postgresql';
import { loadRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { Biomarker, BiomarkerNoiseModel } from '../entities/biomarker.js';
import {
  BiomarkerObservation,
  BiomarkerObservationStatus as Status,
  BiomarkerObservationVerification as Verification,
} from '../entities/observation.js';
import { roundHalfEven } from '../entities/rounding.js';
import { BiomarkerChangeBand, BiomarkerTrend, BiomarkerTrendPoint } from '../entities/trend.js';
import { UnitSystem } from '../entities/units.js';
import { heldBack, isHeldBack } from '../entities/value-access.js';
import { BiomarkerTrendArgs, MyObservationsArgs } from '../inputs/observation.js';
import { changeBetween, isComparable, type Measured, noiseLimit } from '../rules/direction.js';
import { among, between, given } from './conditions.js';
import { findMarkers } from './dictionary.js';
import { pageOfPatient } from './pages.js';
import { auditRead } from './read-audit.js';

/** Standing results: neither replaced nor withdrawn. */
export const STANDING = { supersededBy: null, status: { $ne: Status.ENTERED_IN_ERROR } } as const;

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
  const fitting: FilterQuery<BiomarkerObservation> = {
    patientId: { $in: [...patientIds] },
    ...STANDING,
    ...heldBack(ctx),
    ...given({
      code: markers && among([...markers.values()].map(one => one.code)),
      source: args.source,
      sourceRef: among(args.sourceRefs),
      collectedAt: between(args.from, args.to),
    }),
  };
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
  const found = await pageOfPatient(ctx, { entity: BiomarkerObservation, time: 'collectedAt', where }, patientId, args);
  await auditRead(ctx, 'observations', found.nodes);
  const { unitSystem } = args;
  return unitSystem ? { ...found, nodes: found.nodes.map(row => shownIn(row, unitSystem)) } : found;
}

/** Rows that a result replaced, newest first, in the request's batch: one recursive statement and one for the rows. */
export async function loadHistory(ctx: Context, id: string): Promise<BiomarkerObservation[]> {
  const found = await ctx.load('observation.history', id, async ids => {
    const chain = await ctx.sql<{ start: string; id: string }>(
      `with recursive chain as (
         select id as start, supersedes as id, 1 as step from ${ctx.schema}.observation where id = any($1) and supersedes is not null
         union all select c.start, o.supersedes, c.step + 1 from chain c join ${ctx.schema}.observation o on o.id = c.id where o.supersedes is not null)
       select start, id from chain order by start, step`,
      [ids],
    );
    const rows = await ctx.em.find(BiomarkerObservation, { id: { $in: chain.map(one => one.id) } });
    const byId = new Map(rows.map(row => [row.id, row]));
    return ids.map(start => chain.filter(one => one.start === start).flatMap(one => byId.get(one.id) ?? []));
  });
  return (found ?? []).filter(row => !isHeldBack(ctx, row));
}

/** A result that something else shows; who may see it is decided by what leads there. */
export async function readObservation(ctx: Context, id: string): Promise<BiomarkerObservation | null> {
  const row = await loadRow(ctx, BiomarkerObservation, 'id', id);
  if (row) await auditRead(ctx, 'observations', [row]);
  return row;
}

/** Most points of a trend; the newest ones. */
const MOST = 500;

function bandOf({ noise }: Biomarker): BiomarkerChangeBand {
  const limit = noiseLimit(noise, false);
  if (noise.model === BiomarkerNoiseModel.ABSOLUTE) return { rise: limit, fall: -limit, absolute: true };
  return { rise: roundHalfEven(100 * (Math.exp(limit) - 1), 1), fall: roundHalfEven(100 * (Math.exp(-limit) - 1), 1), absolute: false };
}

const measured = (ctx: Context, row: BiomarkerObservation): Measured => ({
  value: row.canonicalAmount!,
  comparator: row.open(ctx).comparator,
});

const otherLab = (a: BiomarkerObservation, b: BiomarkerObservation): boolean =>
  a.performer !== null && b.performer !== null && a.performer !== b.performer;

function pointOf(ctx: Context, entry: Biomarker, row: BiomarkerObservation, before: BiomarkerObservation | undefined): BiomarkerTrendPoint {
  const { comparator, interpretation, inOptimal, decimals } = row.open(ctx);
  const comparable = [before, row].every(one => one && isComparable(entry.noise, measured(ctx, one)));
  return {
    observationId: row.id,
    collectedAt: row.collectedAt,
    value: roundHalfEven(row.canonicalAmount!, decimals),
    comparator,
    interpretation,
    inOptimal,
    change: comparable ? changeBetween(entry.noise, otherLab(before!, row), measured(ctx, before!), measured(ctx, row)) : null,
  };
}

async function resultsOf(ctx: Context, code: string, { from, to }: BiomarkerTrendArgs): Promise<BiomarkerObservation[]> {
  const where: FilterQuery<BiomarkerObservation> = {
    patientId: ctx.caller.userId!,
    code,
    ...STANDING,
    verification: { $ne: Verification.REJECTED },
    canonicalAmount: { $ne: null },
    ...given({ collectedAt: between(from, to) }),
    ...heldBack(ctx),
  };
  const rows = await ctx.em.find(BiomarkerObservation, where, { orderBy: { collectedAt: 'desc', id: 'desc' }, limit: MOST });
  return rows.reverse();
}

/** The caller's own results of a marker over time; null for a marker that nobody knows. */
export async function myBiomarkerTrend(ctx: Context, args: BiomarkerTrendArgs): Promise<BiomarkerTrend | null> {
  const entry = (await findMarkers(ctx, [args.code])).get(args.code);
  if (!entry) return null;
  const rows = await resultsOf(ctx, entry.code, args);
  const applied = rows.at(-1)?.open(ctx).appliedRange;
  return {
    code: entry.code,
    unit: entry.unit,
    reference: applied?.reference ?? null,
    optimal: applied?.optimal ?? null,
    changeBand: bandOf(entry),
    points: rows.map((row, index) => pointOf(ctx, entry, row, rows[index - 1])),
  };
}
