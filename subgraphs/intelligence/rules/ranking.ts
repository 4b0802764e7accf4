import type { RankedCandidate } from '../entities/decision.js';
import { DecisionArm, IntelligenceStage, Ranker } from '../entities/enums.js';
import { MODELS, RANKERS, rankersOf, type Bundle, type ThompsonPart } from './bundle.js';
import { bestIndex, epsilonGreedy, mixed, pointMass } from './exploration.js';
import { drawIndex, seedNumber, uniformsOf } from './sampling.js';
import { posteriorOf, scoreBy, type Scored } from './scorers.js';
import { winProbabilities } from './thompson.js';
import { segmentOf, type Candidate, type Observation } from './values.js';

const STAGES = Object.values(IntelligenceStage);

/** Everything that an answer depends on; equal questions have equal answers on every instance. Source: intelligence 7.3.14. */
export interface RankQuestion extends Observation {
  stage: IntelligenceStage;
  arm: DecisionArm;
  bundle: Bundle;
  epsilon: number;
  segmentKeys: readonly string[];
  /** The safe set, in the caller's order; at least one. */
  candidates: readonly Candidate[];
}

/** What would be served, with what probability. */
export interface Distribution {
  ranker: Ranker;
  scored: readonly Scored[];
  /** Of being on top; sums to 1. */
  propensities: readonly number[];
}

export interface RankAnswer extends Distribution {
  served: number;
  /** Indices: the served one, then the others by score, ties by the caller's order. */
  order: readonly number[];
  predicted: number | null;
  /** Expected reward of the served candidate by every model part that did not serve. */
  shadow: Readonly<Record<string, number>>;
}

/** The ranker of a stage: the highest that the bundle has a part for; CONTROL gets that of S1. Source: intelligence 4.2. */
export function rankerOf({ stage, arm, bundle }: Pick<RankQuestion, 'stage' | 'arm' | 'bundle'>): Ranker {
  const asked = arm === DecisionArm.CONTROL ? IntelligenceStage.S1 : stage;
  const limit = Math.min(STAGES.indexOf(asked), STAGES.indexOf(stage));
  return rankersOf(bundle)
    .filter(ranker => RANKERS.indexOf(ranker) <= limit)
    .at(-1)!;
}

/** Propensities of a segment's posteriors, worked out once per frozen part: the quadrature is the dear thing about S4. */
const quadratures = new WeakMap<ThompsonPart, Map<string, readonly number[]>>();

function thompsonPropensities({ bundle, segmentKeys, context, candidates, epsilon }: RankQuestion): number[] {
  const part = bundle.thompson!;
  const segment = segmentOf(segmentKeys, context);
  const known = quadratures.get(part) ?? new Map<string, readonly number[]>();
  quadratures.set(part, known);
  const key = `${segment}\n${candidates.map(({ id }) => id).join('\n')}`;
  let wins = known.get(key);
  if (!wins) {
    wins = winProbabilities(candidates.map(({ id }) => posteriorOf(part, segment, id)));
    if (known.size >= 1000) known.clear();
    known.set(key, wins);
  }
  return mixed(wins, epsilon);
}

function propensitiesOf(ranker: Ranker, question: RankQuestion, scored: readonly Scored[]): number[] {
  const { candidates, epsilon } = question;
  const scores = scored.map(({ score }) => score ?? 0);
  if (ranker === Ranker.PASSTHROUGH) return pointMass(candidates.length, 0);
  if (ranker === Ranker.RULES) return pointMass(candidates.length, bestIndex(scores));
  return ranker === Ranker.THOMPSON ? thompsonPropensities(question) : epsilonGreedy(scores, epsilon);
}

/** Scores and the probability of each candidate to be on top, by the ranker that the question leads to. */
export function distributionOf(question: RankQuestion): Distribution {
  const ranker = rankerOf(question);
  const scored = question.candidates.map(one => scoreBy(ranker, question.bundle, question.segmentKeys, question, one));
  return { ranker, scored, propensities: propensitiesOf(ranker, question, scored) };
}

function orderOf(scored: readonly Scored[], served: number): number[] {
  const others = scored.map((_, index) => index).filter(index => index !== served);
  return [served, ...others.sort((a, b) => (scored[b]!.score ?? 0) - (scored[a]!.score ?? 0) || a - b)];
}

function shadowOf(question: RankQuestion, ranker: Ranker, served: Candidate): Record<string, number> {
  const silent = MODELS.filter(model => model !== ranker && question.bundle[model] !== undefined);
  return Object.fromEntries(
    silent.map(model => [model, scoreBy(model, question.bundle, question.segmentKeys, question, served).prediction!]),
  );
}

/** Answers a question: the served candidate is drawn with exactly its propensity, from a seeded generator. Source: intelligence 7.3.11. */
export function rank(question: RankQuestion, seed: string): RankAnswer {
  const distribution = distributionOf(question);
  const served = drawIndex(distribution.propensities, uniformsOf(seedNumber(seed))());
  return {
    ...distribution,
    served,
    order: orderOf(distribution.scored, served),
    predicted: distribution.scored[served]!.prediction,
    shadow: shadowOf(question, distribution.ranker, question.candidates[served]!),
  };
}

/** What S1 would serve: the control policy, against which lift is measured. */
export function baselineOf(question: RankQuestion): Candidate {
  const { propensities } = distributionOf({ ...question, stage: IntelligenceStage.S1, arm: DecisionArm.CONTROL });
  return question.candidates[bestIndex(propensities)]!;
}

/** The answer by rank, at most so many; `ids` are those of the candidates in question, in their order. */
export const rankedFrom = (answer: RankAnswer, ids: readonly string[], slots = ids.length): RankedCandidate[] =>
  answer.order.slice(0, slots).map((index, position) => ({
    candidateId: ids[index]!,
    rank: position + 1,
    score: answer.scored[index]!.score,
    propensity: answer.propensities[index]!,
  }));
