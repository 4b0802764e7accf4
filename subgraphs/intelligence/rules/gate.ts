import { IntelligenceStage, type Ranker } from '../entities/enums.js';
import { RANKERS } from './bundle.js';

const WEEK_MS = 7 * 86_400_000;
const STAGES = Object.values(IntelligenceStage);

/** A record as the gate reads it. */
export interface GateMetric {
  metric: string;
  state: string;
  /** Null: of the policy, not of one ranker. */
  ranker: string | null;
  /** Names the policy that it is about. */
  policy: string;
  computedAt: Date;
}

/** The next stage; null at S5. */
export const nextStage = (stage: IntelligenceStage): IntelligenceStage | null => STAGES[STAGES.indexOf(stage) + 1] ?? null;

/** The stage that a flag's value names; anything else is S0: it fails closed. Source: intelligence 4.2. */
export const stageOfFlag = (value: unknown): IntelligenceStage =>
  typeof value === 'string' && /^S[0-5]$/.test(value) ? (value.toLowerCase() as IntelligenceStage) : IntelligenceStage.S0;

const rankerOfStage = (stage: IntelligenceStage): Ranker => RANKERS[STAGES.indexOf(stage)]!;

/** What is wrong with the newest records of a metric: each of the policies must have one, whatever the others have. */
function reasonsOf(name: string, found: readonly GateMetric[], now: Date, policies: readonly string[] = []): string[] {
  const isMissing = found.length === 0 || policies.some(one => !found.some(({ policy }) => policy === one));
  if (isMissing) return [`${name}_missing`];
  if (found.some(({ state }) => state !== 'healthy')) return [`${name}_${found.find(({ state }) => state !== 'healthy')!.state}`];
  return found.some(({ computedAt }) => now.getTime() - computedAt.getTime() > WEEK_MS) ? [`${name}_stale`] : [];
}

/**
 * What stands against advancing to a stage: joins must be complete and the loop live; from S2 on the champion must have been honest
 * and calibrated with the ranker of that stage, shadow records counting, and its lift not decayed. That is asked of every policy whose
 * decisions are being closed: one that is honest does not speak for another. Source: intelligence 7.1.
 */
export function gateReasons(to: IntelligenceStage, metrics: readonly GateMetric[], stalled: boolean, now: Date): string[] {
  if (to === IntelligenceStage.S0) return [];
  const of = (name: string, ranker?: Ranker): GateMetric[] =>
    metrics.filter(one => one.metric === name && (ranker === undefined || one.ranker === ranker));
  const reasons = [...reasonsOf('join_completeness', of('join_completeness'), now), ...(stalled ? ['loop_stalled'] : [])];
  if (STAGES.indexOf(to) < STAGES.indexOf(IntelligenceStage.S2)) return reasons;
  const ranker = rankerOfStage(to);
  const atWork = of('join_completeness').map(({ policy }) => policy);
  for (const name of ['realized_vs_predicted', 'calibration']) reasons.push(...reasonsOf(name, of(name, ranker), now, atWork));
  if (of('lift_decay').some(({ state }) => state === 'unhealthy')) reasons.push('lift_decay_unhealthy');
  return reasons;
}
