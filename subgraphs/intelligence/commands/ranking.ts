import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { LoopDecision, type GuardrailViolation } from '../entities/decision.js';
import { DecisionArm, DecisionStatus, GuardrailPhase, IntelligenceStage } from '../entities/enums.js';
import type { RankInput } from '../inputs/rank.js';
import { keyedHash } from '../ports/keyed-hash.js';
import type { FreshFeatures } from '../queries/features.js';
import { sealRecord, type LedgerRecord } from '../queries/ledger-record.js';
import type { RankFacts, RankPolicy } from '../queries/rank-facts.js';
import { bundleOf } from '../queries/registry.js';
import { stageInForce } from '../queries/stage.js';
import type { Bundle } from '../rules/bundle.js';
import { needsFacts, violationsOf, type GuardContext, type GuardedCandidate, type GuardFacts } from '../rules/guardrails.js';
import { baselineOf, rank, rankedFrom, rankerOf, type RankAnswer, type RankQuestion } from '../rules/ranking.js';
import type { Values } from '../rules/values.js';
import { raiseAlarm } from './alarms.js';
import { factsSince, forgetFlags, guardAsked, guarded, guardFor, servedOften } from './guard.js';

/** CONTROL from S2 on, for a fixed share of entities, by their hash. */
async function armOf(ctx: Context, policy: RankPolicy, stage: IntelligenceStage, entityId: string): Promise<DecisionArm> {
  if (stage === IntelligenceStage.S0 || stage === IntelligenceStage.S1) return DecisionArm.TREATMENT;
  const hash = await keyedHash(ctx, `arm:${policy.id}:${entityId}`);
  return hash.readUInt32BE(0) / 2 ** 32 < policy.controlShare ? DecisionArm.CONTROL : DecisionArm.TREATMENT;
}

/** One ranking under way. */
export interface Ranking {
  ctx: Context;
  input: RankInput;
  policy: RankPolicy;
  champion: RankFacts['champion'];
  bundle: Bundle;
  entityId: string;
  stage: IntelligenceStage;
  arm: DecisionArm;
  seed: string;
  candidates: GuardedCandidate[];
  features: FreshFeatures;
  guard: GuardContext;
  /** What is known by the time of the answer. */
  factsNow: GuardFacts;
}

/** Everything that a ranking is made of, from what was read under the entity's lock and what was asked before. */
export async function rankingOf(ctx: Context, input: RankInput, entityId: string, known: RankFacts): Promise<Ranking> {
  const { policy, champion, features } = known;
  const bundle = (await bundleOf(ctx, champion)) ?? {};
  const stage = stageInForce(ctx, input.brandId?.toLowerCase() ?? null);
  const candidates = input.candidates.map(guarded);
  const answered = guardFor(policy, candidates, guardAsked.of(ctx));
  const { facts, closedFlags } = answered;
  await forgetFlags(ctx, entityId, closedFlags);
  return {
    ctx,
    input,
    policy,
    champion,
    bundle,
    entityId,
    stage,
    arm: await armOf(ctx, policy, stage, entityId),
    seed: (await keyedHash(ctx, `seed:${policy.id}:${input.decisionKey}`)).toString('hex'),
    candidates,
    features,
    guard: {
      facts,
      context: (input.context ?? {}) as Values,
      safeTag: policy.safeTag,
      denylist: bundle.rules?.denylist ?? [],
      servedOften: await servedOften(ctx, policy, entityId),
    },
    factsNow: factsSince(facts, answered, known.flags),
  };
}

const questionFor = (ranking: Ranking, candidates: readonly GuardedCandidate[]): RankQuestion => ({
  stage: ranking.stage,
  arm: ranking.arm,
  bundle: ranking.bundle,
  epsilon: ranking.policy.epsilon,
  segmentKeys: ranking.policy.segmentKeys,
  context: (ranking.input.context ?? {}) as Values,
  features: ranking.features.values,
  candidates,
});

const without = (candidates: readonly GuardedCandidate[], violations: readonly GuardrailViolation[]): GuardedCandidate[] =>
  candidates.filter(({ id }) => !violations.some(({ candidateId }) => candidateId === id));

export interface Outcome {
  safe: GuardedCandidate[];
  violations: GuardrailViolation[];
  answer: RankAnswer | null;
}

/** Guardrails before ranking, the ranking, and guardrails again on the answer: what fell out then is ranked without. */
export function rankSafely(ranking: Ranking): Outcome {
  const { policy, guard, seed } = ranking;
  const before = violationsOf(policy.guardrails, ranking.candidates, guard, GuardrailPhase.BEFORE_RANK);
  const offered = without(ranking.candidates, before);
  const now = needsFacts(policy.guardrails) ? { ...guard, facts: ranking.factsNow } : guard;
  const after = violationsOf(policy.guardrails, offered, now, GuardrailPhase.AFTER_RANK);
  const safe = without(offered, after);
  return { safe, violations: [...before, ...after], answer: safe.length ? rank(questionFor(ranking, safe), seed) : null };
}

/** Tells operators that something would have been shown and was not; the types only, no entity. Source: spec 1, Alarms. */
export function alarmIfBlocked(ranking: Ranking, violations: readonly GuardrailViolation[]): void {
  if (violations.length === 0) return;
  const wanted = ranking.candidates[rank(questionFor(ranking, ranking.candidates), ranking.seed).served]!;
  const kinds = violations.filter(({ candidateId }) => candidateId === wanted.id).map(({ rule }) => rule);
  if (kinds.length === 0) return;
  ranking.ctx.afterCommit(() => raiseAlarm(ranking.ctx, 'guardrail', 'blocked', { violations: [...new Set(kinds)] }));
}

function recordFor({ input, features, candidates, policy }: Ranking, { safe, answer }: Outcome): LedgerRecord {
  const ids = safe.map(({ id }) => id);
  return {
    context: (input.context ?? {}) as Values,
    features: features.values,
    featureVersions: features.versions,
    candidates,
    safe: ids,
    epsilon: policy.epsilon,
    segmentKeys: policy.segmentKeys,
    ranked: answer ? rankedFrom(answer, ids, input.slots) : [],
    propensities: Object.fromEntries(ids.map((id, index) => [id, answer!.propensities[index]!])),
  };
}

/** The decision as it is stored; nothing is written here. */
export function decisionOf(ranking: Ranking, outcome: Outcome, requestHash: Buffer): LoopDecision {
  const { ctx, input, policy, champion, stage, arm } = ranking;
  const { answer, safe, violations } = outcome;
  const served = answer && safe[answer.served]!;
  const waiting = input.deferActivation ? DecisionStatus.DEFERRED : DecisionStatus.PENDING;
  const id = newId();
  return Object.assign(new LoopDecision(), {
    id,
    decisionKey: input.decisionKey,
    policyId: policy.id,
    policyKind: policy.policyKind,
    policyKey: policy.policyKey,
    brandId: policy.brandId,
    policyVersion: champion.number,
    registryId: champion.id,
    stage,
    arm,
    ranker: answer?.ranker ?? rankerOf(ranking),
    entityType: input.entity.type,
    entity: ranking.entityId,
    record: sealRecord(ctx, id, recordFor(ranking, outcome)),
    requestHash,
    servedCandidateId: served?.id ?? null,
    baselineCandidateId: safe.length ? baselineOf(questionFor(ranking, safe)).id : null,
    propensity: answer ? answer.propensities[answer.served]! : 1,
    predictedOutcome: answer?.predicted ?? null,
    shadowPredictions: answer?.shadow ?? {},
    outcomeMetric: input.outcome?.metric ?? policy.outcomeMetric,
    outcomeCodes: input.outcome?.codes ?? [...(served?.codes ?? [])],
    violations,
    fallback: !answer,
    status: answer ? waiting : DecisionStatus.DISCARDED,
    decidedAt: ctx.now(),
    closedAt: answer ? null : ctx.now(),
    maturesAt: after(ctx.now(), policy.maturationDays * DAY_MS),
    seed: ranking.seed,
    answered: true,
  });
}
