import type { Context } from '../../../runtime/request/context.js';
import { after, DAY_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { MetaMetric } from '../entities/loop.js';
import { RegistryVersion } from '../entities/registry.js';
import { RegistryStatus } from '../entities/enums.js';
import { calibrationOf, calibrationState, clusteredError, honestEce, honestyState } from '../rules/calibration.js';
import { agreementValue, LIFT_DAYS, liftDecay, liftOf, measured, type Measured } from '../rules/lift.js';
import { JOIN_FLOOR, liveness } from '../rules/liveness.js';
import { Z95 } from '../rules/quantiles.js';
import { analysisOf, scopeOf, type Analysis, type Computed } from '../queries/analysis.js';
import { challengerMetrics } from '../queries/challenger.js';
import { firstDeadline, joinCounts, predictionCohorts, rewardSums, type PredictionCohort, type RewardSums } from '../queries/cohorts.js';
import { loopFacts } from '../queries/loop-facts.js';
import { loopSettings } from '../queries/settings.js';

/** J/(J+X) by deadline: early joins whose deadline lies ahead do not count. Source: spec 1, Gate metrics; intelligence 7.1. */
async function joinCompleteness({ ctx, from, now, windowDays, policies }: Analysis): Promise<Computed[]> {
  const counts = await joinCounts(ctx, from, now);
  return counts.map(({ policyId, joined, expired, late }) => {
    const n = joined + expired;
    const value = joined / n;
    const details = {
      scope: scopeOf(policies.get(policyId)!),
      state: value >= JOIN_FLOOR ? 'healthy' : 'unhealthy',
      n,
      joined,
      expired_unjoined: expired,
      late_outcomes: late,
      window_days: windowDays,
      floor: JOIN_FLOOR,
    };
    return { metric: 'join_completeness', value, details };
  });
}

/** How wrong dropped outcomes could make the mean residual: all missing 0, all missing 1. */
function boundsOf({ residuals, missing }: PredictionCohort): Record<string, unknown> {
  if (missing.n === 0) return {};
  const all = residuals.n + missing.n;
  const low = (residuals.sum - missing.predicted) / all;
  return { bounds: [low, low + missing.n / all], missing: missing.n };
}

function honestyOf(analysis: Analysis, cohort: PredictionCohort): Computed[] {
  const version = analysis.versions.get(cohort.registryId)!;
  const scope = scopeOf(analysis.policies.get(version.policyId)!, version);
  const found = calibrationOf(cohort.bins);
  const se = clusteredError(cohort.residuals);
  const value = found.realizedVsPredicted;
  const given = { scope, n: found.n, window_days: analysis.windowDays, ranker: cohort.ranker, shadow: cohort.shadow };
  const interval = Number.isFinite(se) ? { ci_low: value - Z95 * se, ci_high: value + Z95 * se } : { ci_low: null, ci_high: null };
  const { ece, brier, slope, intercept, bins } = found;
  return [
    {
      metric: 'realized_vs_predicted',
      value,
      details: { ...given, ...interval, state: honestyState(value, found.n), ...boundsOf(cohort) },
    },
    {
      metric: 'calibration',
      value: ece,
      details: { ...given, state: calibrationState(ece, found.n), noise: honestEce(cohort.bins), brier, slope, intercept, bins },
    },
  ];
}

const liftFrom = ({ treatment, control, baseline }: RewardSums): Measured | null =>
  treatment && liftOf(measured(treatment), control && measured(control), baseline && agreementValue(baseline));

/** First and last 28 matured days of a champion, once they do not overlap. */
async function liftDecayOf({ ctx, now, policies, windowDays }: Analysis, champion: RegistryVersion): Promise<Computed[]> {
  const start = await firstDeadline(ctx, champion.id, champion.championedAt!, now);
  if (!start || after(start, 2 * LIFT_DAYS * DAY_MS) > now) return [];
  const reference = liftFrom(await rewardSums(ctx, champion.id, start, after(start, LIFT_DAYS * DAY_MS)));
  const latest = liftFrom(await rewardSums(ctx, champion.id, after(now, -LIFT_DAYS * DAY_MS), now));
  if (!reference || !latest) return [];
  const { value, ciLow, ciHigh, state, trips } = liftDecay(reference, latest);
  const details = {
    scope: scopeOf(policies.get(champion.policyId)!, champion),
    state,
    n: latest.n,
    window_days: windowDays,
    ci_low: ciLow,
    ci_high: ciHigh,
    trips,
    lift_reference: reference.value,
    lift_now: latest.value,
  };
  return [{ metric: 'lift_decay', value, details }];
}

async function livenessNow(ctx: Context): Promise<Computed> {
  const facts = { ...(await loopFacts(ctx)), lastTickAt: ctx.now().getTime() }; // this tick is its own sign of life
  return { metric: 'loop_liveness', ...liveness(facts, loopSettings(ctx)) };
}

/** Computes all metrics of the loop as they are now; reads only. */
async function computeMetrics(ctx: Context): Promise<Computed[]> {
  const analysis = await analysisOf(ctx);
  const cohorts = await predictionCohorts(ctx, analysis.from, analysis.now);
  const champions = [...analysis.versions.values()].filter(({ status }) => status === RegistryStatus.CHAMPION);
  const decays: Computed[] = [];
  for (const champion of champions) decays.push(...(await liftDecayOf(analysis, champion)));
  const challengers = await challengerMetrics(analysis);
  return [
    ...(await joinCompleteness(analysis)),
    ...cohorts.flatMap(cohort => honestyOf(analysis, cohort)),
    ...decays,
    ...challengers,
    await livenessNow(ctx),
  ];
}

/** A million closed decisions are summed up in seconds; the usual limit of a statement is shorter. */
const STATEMENT_TIMEOUT_MS = MINUTE_MS;

/** Computes and persists the metrics of a tick, in the running transaction. Source: spec 1, Intelligence loop 3. */
export async function analyze(ctx: Context, tickId: string): Promise<Record<string, number>> {
  await ctx.sql(`select set_config('statement_timeout', $1, true)`, [String(STATEMENT_TIMEOUT_MS)]);
  const computed = await computeMetrics(ctx);
  ctx.em.persist(computed.map(one => Object.assign(new MetaMetric(), { ...one, tickId, computedAt: ctx.now() })));
  return { metrics: computed.length };
}
