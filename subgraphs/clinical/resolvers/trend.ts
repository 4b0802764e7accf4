import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { type Biomarker, BiomarkerNoiseModel } from '../entities/biomarker.js';
import {
  BiomarkerObservation,
  BiomarkerObservationStatus as Status,
  BiomarkerObservationVerification as Verification,
} from '../entities/observation.js';
import { roundHalfEven } from '../entities/rounding.js';
import { BiomarkerChangeBand, BiomarkerTrend, BiomarkerTrendPoint } from '../entities/trend.js';
import { heldBack } from '../entities/value-access.js';
import { BiomarkerTrendArgs } from '../inputs/observation.js';
import { findMarkers } from '../queries/dictionary.js';
import { changeBetween, isComparable, type Measured, noiseLimit } from '../rules/direction.js';

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
  const collectedAt = { ...(from && { $gte: from }), ...(to && { $lte: to }) };
  const rows = await ctx.em.find(
    BiomarkerObservation,
    {
      patientId: ctx.caller.userId!,
      code,
      supersededBy: null,
      status: { $ne: Status.ENTERED_IN_ERROR },
      verification: { $ne: Verification.REJECTED },
      canonicalAmount: { $ne: null },
      ...(Object.keys(collectedAt).length && { collectedAt }),
      ...heldBack(ctx),
    },
    { orderBy: { collectedAt: 'desc', id: 'desc' }, limit: MOST },
  );
  return rows.reverse();
}

@Resolver()
export class TrendResolver {
  @Access({ user: 'read:biomarkers' })
  @Query(() => BiomarkerTrend, { nullable: true, description: 'Own results of a marker over time, with what is more than noise.' })
  async myBiomarkerTrend(@Args(() => BiomarkerTrendArgs) args: BiomarkerTrendArgs, @Ctx() ctx: Context): Promise<BiomarkerTrend | null> {
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
}
