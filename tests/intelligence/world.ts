import type { Bundle } from '../../subgraphs/intelligence/rules/bundle.js';
import { DecisionArm, IntelligenceStage, type Ranker } from '../../subgraphs/intelligence/entities/enums.js';
import { distributionOf, type RankQuestion } from '../../subgraphs/intelligence/rules/ranking.js';
import { drawIndex, uniformsOf, type Uniform } from '../../subgraphs/intelligence/rules/sampling.js';
import { train, type TrainingRow } from '../../subgraphs/intelligence/rules/training.js';
import type { Candidate, Values } from '../../subgraphs/intelligence/rules/values.js';

/** E1 of the contract: 5 candidates, 4 binary features, logistic truth. Everything is known, so estimates can be compared with what is true. */
export const CANDIDATES: readonly Candidate[] = ['a', 'b', 'c', 'd', 'e'].map(id => ({ id, features: {}, tags: [], codes: [] }));
export const KEYS = ['f1', 'f2', 'f3', 'f4'];
export const CONTEXTS: readonly Values[] = Array.from({ length: 16 }, (_, bits) =>
  Object.fromEntries(KEYS.map((key, place) => [key, ((bits >> place) & 1) === 1])),
);
export const CONTEXT_SCHEMA = { type: 'object', properties: Object.fromEntries(KEYS.map(key => [key, { type: 'boolean' }])) };

/** Probability of a reward of candidate `a` in context `x`. */
export type Truth = (x: number, a: number) => number;

/** The logistic truth of a constant and weights for each candidate. */
const logistic =
  (weightsOf: readonly (readonly number[])[]): Truth =>
  (x, a) => {
    const [constant, ...weights] = weightsOf[a]!;
    const z = weights.reduce((sum, weight, place) => sum + (CONTEXTS[x]![KEYS[place]!] ? weight : 0), constant!);
    return 1 / (1 + Math.exp(-z));
  };

export const truth = logistic([
  [-0.6, 1.6, -1.2, 0.4, 0.2],
  [-0.4, -1.5, 1.4, 0.3, -0.5],
  [-0.9, 0.3, 0.2, 1.8, -1.0],
  [-0.7, -0.4, -0.3, -1.2, 1.9],
  [-0.2, -0.6, -0.5, -0.2, -0.4],
]);

/** The best candidates succeed in 93 % of decisions. */
export const easyTruth = logistic([
  [-0.82, 0.54, 1.06, 1.2, -1.27],
  [0.6, -2.52, 2.39, -3.16, -3.05],
  [1.95, 1.57, 2.67, -3.46, 1.47],
  [-0.21, 0.02, 1.44, 1.58, 4.05],
  [-0.89, 0.56, 0.12, -1.92, -1.69],
]);

export const best = (x: number): number => Math.max(...CANDIDATES.map((_, a) => truth(x, a)));

/** A policy as a table: context to the probability of each candidate. */
export type PolicyTable = readonly (readonly number[])[];

/** Value of a policy under uniform contexts, exactly. */
export const valueOf = (policy: PolicyTable, of: Truth = truth): number =>
  policy.reduce((sum, row, x) => sum + row.reduce((inner, probability, a) => inner + probability * of(x, a), 0), 0) / CONTEXTS.length;

/** (1−ε) on the best of a scorer, ε/K on all. */
export const greedy = (scorer: (x: number, a: number) => number, epsilon: number): PolicyTable =>
  CONTEXTS.map((_, x) => {
    const scores = CANDIDATES.map((_one, a) => scorer(x, a));
    const top = scores.indexOf(Math.max(...scores));
    return scores.map((_score, a) => (a === top ? 1 - epsilon : 0) + epsilon / scores.length);
  });

const question = (bundle: Bundle, stage: IntelligenceStage, x: number): RankQuestion => ({
  stage,
  arm: DecisionArm.TREATMENT,
  bundle,
  epsilon: 0.05,
  segmentKeys: KEYS,
  context: CONTEXTS[x]!,
  features: {},
  candidates: CANDIDATES,
});

/** What a bundle serves at a stage, as a table. */
export const served = (bundle: Bundle, stage: IntelligenceStage): PolicyTable =>
  CONTEXTS.map((_, x) => distributionOf(question(bundle, stage, x)).propensities);

export const UNIFORM: PolicyTable = CONTEXTS.map(() => CANDIDATES.map(() => 1 / CANDIDATES.length));

export interface Learned {
  /** Regret of each batch of 1,000. */
  regrets: number[];
  /** Regret of serving uniformly, expected, of one batch. */
  uniform: number;
}

/** 10 batches of 1,000 decisions; between batches a version is trained on all outcomes so far and applied. */
export function learn(ranker: Ranker, stage: IntelligenceStage, seed: number, batches = 10, size = 1000): Learned {
  const next: Uniform = uniformsOf(seed * 7919 + 13);
  const rows: TrainingRow[] = [];
  const regrets: number[] = [];
  let policy = UNIFORM;
  for (let batch = 0; batch < batches; batch++) {
    let regret = 0;
    for (let index = 0; index < size; index++) {
      const x = Math.floor(next() * CONTEXTS.length);
      const a = drawIndex(policy[x]!, next());
      regret += best(x) - truth(x, a);
      rows.push({ context: CONTEXTS[x]!, features: {}, served: CANDIDATES[a]!, reward: Number(next() < truth(x, a)) });
    }
    regrets.push(regret);
    const setting = {
      rankers: [ranker],
      segmentKeys: KEYS,
      contextSchema: CONTEXT_SCHEMA,
      candidateSchema: { type: 'object', properties: {} },
      seed,
    };
    policy = served(train(rows, setting), stage);
  }
  const uniform = size * (CONTEXTS.reduce((sum, _, x) => sum + best(x), 0) / CONTEXTS.length - valueOf(UNIFORM));
  return { regrets, uniform };
}
