import { after, DAY_MS } from '../../../runtime/time/durations.js';
import type { RegistryVersion } from '../entities/registry.js';
import { IntelligenceStage, OffPolicyState, RegistryStatus } from '../entities/enums.js';
import { compare, type LoggedDecision } from '../rules/evaluation.js';
import { scopeOf, type Analysis, type Computed } from './analysis.js';
import { loggedDecisions } from './logged-decisions.js';
import { bundleOf } from './registry.js';
import { stageInForce } from './stage.js';

/** No decision waits longer for its outcome. */
const LONGEST_DAYS = 400;

/** Nothing is learned of a candidate while the serving does not explore. */
const SILENT = [IntelligenceStage.S0, IntelligenceStage.S1];

async function metricOf(
  analysis: Analysis,
  candidate: RegistryVersion,
  champion: RegistryVersion,
  logged: readonly LoggedDecision[],
): Promise<Computed[]> {
  const policy = analysis.policies.get(candidate.policyId)!;
  const [own, serving] = [await bundleOf(analysis.ctx, candidate), await bundleOf(analysis.ctx, champion)];
  if (!own) return [];
  const { liftOverTarget, ess, maxWeight, n, supportViolations, state } = compare(logged, own, serving ?? {}, policy.contextSchema);
  if (!liftOverTarget || state === OffPolicyState.UNSUPPORTED) return [];
  const { value, ciLow, ciHigh } = liftOverTarget;
  const conclusive = state === OffPolicyState.CONCLUSIVE;
  const details = {
    scope: scopeOf(policy, candidate),
    state: conclusive ? 'healthy' : 'inconclusive',
    n,
    window_days: analysis.windowDays,
    ci_low: conclusive ? ciLow : null,
    ci_high: conclusive ? ciHigh : null,
    ess,
    max_weight: maxWeight,
    support_violations: supportViolations,
    champion_version: champion.number,
  };
  return [{ metric: 'challenger_lift', value, details }];
}

/** DR estimate of each candidate minus the champion, at the stage in force. Source: intelligence 7.1. */
export async function challengerMetrics(analysis: Analysis): Promise<Computed[]> {
  const { ctx, from, now, versions } = analysis;
  const stage = stageInForce(ctx);
  const candidates = [...versions.values()].filter(
    ({ status, artifactErasedAt }) => status === RegistryStatus.CANDIDATE && !artifactErasedAt,
  );
  if (SILENT.includes(stage) || candidates.length === 0) return [];
  const found: Computed[] = [];
  for (const policyId of new Set(candidates.map(one => one.policyId))) {
    const champion = [...versions.values()].find(one => one.policyId === policyId && one.status === RegistryStatus.CHAMPION)!;
    const logged = await loggedDecisions(ctx, policyId, after(from, -LONGEST_DAYS * DAY_MS), now, stage);
    for (const candidate of candidates.filter(one => one.policyId === policyId))
      found.push(...(await metricOf(analysis, candidate, champion, logged)));
  }
  return found;
}
