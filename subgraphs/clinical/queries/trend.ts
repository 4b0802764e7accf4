import type { FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { Biomarker, BiomarkerNoiseModel } from '../entities/biomarker.js';
import { BiomarkerObservation, BiomarkerObservationVerification as Verification } from '../entities/observation.js';
import { roundHalfEven } from '../entities/rounding.js';
import { BiomarkerChangeBand, BiomarkerTrend, BiomarkerTrendPoint } from '../entities/trend.js';
import { heldBack } from '../entities/value-access.js';
import { BiomarkerTrendArgs } from '../inputs/observation.js';
import { changeBetween, isComparable, type Measured, noiseLimit } from '../rules/direction.js';
import { between, given } from './conditions.js';
import { findMarkers } from './dictionary.js';
import { STANDING } from './observation.js';

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
