import { createHash } from 'node:crypto';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { newId } from '../../../runtime/data/ids.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { LoopDecision, type GuardrailViolation, type RankedCandidate } from '../entities/decision.js';
import { DecisionArm, DecisionStatus, GuardrailPhase, IntelligenceStage, READERS, RankingPolicyStatus } from '../entities/enums.js';
import { RankInput } from '../inputs/rank.js';
import { canonicalJson, type Bundle } from '../rules/bundle.js';
import { needsFacts, violationsOf, type GuardContext, type GuardedCandidate, type GuardFacts } from '../rules/guardrails.js';
import { baselineOf, rank, rankerOf, type RankAnswer, type RankQuestion } from '../rules/ranking.js';
import { valueViolations } from '../rules/schemas.js';
import type { Values } from '../rules/values.js';
import { raiseAlarm } from '../queries/alarms.js';
import type { FreshFeatures } from '../commands/feature-store.js';
import { factsSince, forgetFlags, guarded, guardFor, guardOf, servedOften, type GuardAsked } from '../commands/guard.js';
import { keyedHash } from '../commands/keyed-hash.js';
import { sealRecord } from '../queries/ledger-record.js';
import { insertDecision } from '../commands/ledger-store.js';
import { rankFacts, type RankFacts, type RankPolicy } from '../queries/rank-facts.js';
import { bundleOf } from '../commands/registry-store.js';
import { DAY_MS } from '../queries/settings.js';
import { stageInForce } from './stage.js';

/** Everything that is wrong with what the caller wants ranked. */
function inputViolations(policy: RankPolicy, input: RankInput): Violation[] {
  const { candidates } = input;
  const repeated = candidates.flatMap(({ id }, index) =>
    candidates.findIndex(one => one.id === id) < index ? [{ pointer: `/input/candidates/${index}/id`, message: 'is there already' }] : [],
  );
  const features = candidates.flatMap(({ features: values }, index) =>
    valueViolations(policy.candidateSchema, values ?? {}, `/input/candidates/${index}/features`),
  );
  const { metric } = input.outcome ?? {};
  const foreign =
    metric == null || metric === policy.outcomeMetric
      ? []
      : [{ pointer: '/input/outcome/metric', message: `must be ${policy.outcomeMetric}, which the policy waits for` }];
  return [...repeated, ...foreign, ...valueViolations(policy.contextSchema, input.context ?? {}, '/input/context'), ...features];
}

const hashOf = (input: RankInput): Buffer => createHash('sha256').update(canonicalJson(input)).digest();

/** What was answered under the key before; parallel equal calls have one decision and one answer. Source: intelligence 7.3.12. */
async function madeBefore(ctx: Context, policyId: string, input: RankInput): Promise<LoopDecision | null> {
  const before = await ctx.em.findOne(LoopDecision, { policyId, decisionKey: input.decisionKey });
  if (!before) return null;
  if (!Buffer.from(before.requestHash).equals(hashOf(input))) fail('idempotency_mismatch', 'This decision_key was used with another body');
  ctx.status(200);
  return Object.assign(before, { answered: true });
}

/** CONTROL from S2 on, for a fixed share of entities, by their hash. */
async function armOf(ctx: Context, policy: RankPolicy, stage: IntelligenceStage, entityId: string): Promise<DecisionArm> {
  if (stage === IntelligenceStage.S0 || stage === IntelligenceStage.S1) return DecisionArm.TREATMENT;
  const hash = await keyedHash(ctx, `arm:${policy.id}:${entityId}`);
  return hash.readUInt32BE(0) / 2 ** 32 < policy.controlShare ? DecisionArm.CONTROL : DecisionArm.TREATMENT;
}

/** One ranking under way. */
interface Ranking {
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

interface Outcome {
  safe: GuardedCandidate[];
  violations: GuardrailViolation[];
  answer: RankAnswer | null;
}

/** Guardrails before ranking, the ranking, and guardrails again on the answer: what fell out then is ranked without. */
function rankSafely(ranking: Ranking): Outcome {
  const { policy, guard, seed } = ranking;
  const before = violationsOf(policy.guardrails, ranking.candidates, guard, GuardrailPhase.BEFORE_RANK);
  const offered = without(ranking.candidates, before);
  const now = needsFacts(policy.guardrails) ? { ...guard, facts: ranking.factsNow } : guard;
  const after = violationsOf(policy.guardrails, offered, now, GuardrailPhase.AFTER_RANK);
  const safe = without(offered, after);
  return { safe, violations: [...before, ...after], answer: safe.length ? rank(questionFor(ranking, safe), seed) : null };
}

/** Tells operators that something would have been shown and was not; the types only, no entity. Source: spec 1, Alarms. */
function alarmIfBlocked(ranking: Ranking, violations: readonly GuardrailViolation[]): void {
  if (violations.length === 0) return;
  const wanted = ranking.candidates[rank(questionFor(ranking, ranking.candidates), ranking.seed).served]!;
  const kinds = violations.filter(({ candidateId }) => candidateId === wanted.id).map(({ rule }) => rule);
  if (kinds.length === 0) return;
  ranking.ctx.afterCommit(() => raiseAlarm(ranking.ctx, 'guardrail', 'blocked', { violations: [...new Set(kinds)] }));
}

const rankedOf = ({ answer, safe }: Outcome, slots: number): RankedCandidate[] =>
  (answer?.order ?? []).slice(0, slots).map((index, place) => ({
    candidateId: safe[index]!.id,
    rank: place + 1,
    score: answer!.scored[index]!.score,
    propensity: answer!.propensities[index]!,
  }));

function decisionOf(ranking: Ranking, outcome: Outcome): LoopDecision {
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
    requestHash: hashOf(input),
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
    maturesAt: new Date(ctx.now().getTime() + policy.maturationDays * DAY_MS),
    seed: ranking.seed,
    answered: true,
  });
}

const recordFor = (ranking: Ranking, outcome: Outcome) => ({
  context: (ranking.input.context ?? {}) as Values,
  features: ranking.features.values,
  featureVersions: ranking.features.versions,
  candidates: ranking.candidates,
  safe: outcome.safe.map(({ id }) => id),
  epsilon: ranking.policy.epsilon,
  segmentKeys: ranking.policy.segmentKeys,
  ranked: rankedOf(outcome, ranking.input.slots),
  propensities: Object.fromEntries(outcome.safe.map(({ id }, index) => [id, outcome.answer!.propensities[index]!])),
});

/** A decision that waits for an outcome of analytics has its window opened by a job; the answer does not wait for it. */
export async function openOutcomeWindow(ctx: Context, { id, outcomeMetric, status }: LoopDecision): Promise<void> {
  if (outcomeMetric === 'retest' || status !== DecisionStatus.PENDING) return;
  await ctx.em.flush();
  await ctx.sql(
    `insert into ${ctx.schema}.outcome_window (decision_id, metric, opened_at, next_attempt_at) values ($1, $2, $3, $3) on conflict do nothing`,
    [id, outcomeMetric, ctx.now().toISOString()],
  );
}

async function rankingOf(ctx: Context, input: RankInput, entityId: string, known: RankFacts): Promise<Ranking> {
  const { policy, champion, features } = known;
  const bundle = (await bundleOf(ctx, champion)) ?? {};
  const stage = stageInForce(ctx, input.brandId?.toLowerCase() ?? null);
  const candidates = input.candidates.map(guarded);
  const answered = guardFor(policy, candidates, (ctx.facts as GuardAsked | null) ?? null);
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

/** Works a ranking out and writes it; null: an equal call was faster, or the entity was erased meanwhile. */
async function decide(ctx: Context, input: RankInput, entityId: string, known: RankFacts): Promise<LoopDecision | null> {
  const ranking = await rankingOf(ctx, input, entityId, known);
  const outcome = rankSafely(ranking);
  const decision = decisionOf(ranking, outcome);
  if (!(await insertDecision(ctx, decision))) return null;
  await openOutcomeWindow(ctx, decision);
  alarmIfBlocked(ranking, outcome.violations);
  ctx.audit('decision.made', decision.id, { stage: decision.stage, ranker: decision.ranker, policy_version: decision.policyVersion });
  return decision;
}

@Resolver()
export class RankResolver {
  @Access(READERS)
  @Prepare(guardOf)
  @Mutation(() => LoopDecision, { description: 'Ranks candidates and logs the decision; the same decision key again answers the same.' })
  async rankRecommendations(@Arg('input', () => RankInput) input: RankInput, @Ctx() ctx: Context): Promise<LoopDecision> {
    const entityId = input.entity.id.toLowerCase();
    const known = await rankFacts(ctx, input, entityId);
    if (known?.policy.status !== RankingPolicyStatus.ACTIVE) return fail('not_found', 'There is no such policy');
    const before = known.madeBefore && (await madeBefore(ctx, known.policy.id, input));
    if (before) return before;
    if (known.erased) fail('not_found', 'Not found');
    const errors = inputViolations(known.policy, input);
    requireValid(errors);
    const made = await decide(ctx, input, entityId, known);
    return made ?? (await madeBefore(ctx, known.policy.id, input)) ?? fail('not_found', 'Not found');
  }
}
