import { inverse, Matrix, solve } from 'ml-matrix';
import { Ranker } from '../entities/enums.js';
import type { Bundle, Counts, LinUcbPart, LogisticPart, PlattScaling, PopularityPart, ThompsonPart } from './bundle.js';
import { binSums, calibrationOf } from './calibration.js';
import { globalRate, sigmoid } from './scorers.js';
import { uniformsOf } from './sampling.js';
import { dot, encode, segmentOf, type Candidate, type Observation } from './values.js';

/** Fewer joined outcomes than this teach nothing. Source: intelligence 7.3.23. */
export const MIN_OUTCOMES = 200;
const PRIOR_STRENGTH = { popularity: 20, thompson: 2 } as const;
const HELD_OUT = 0.2;
const NEWTON_STEPS = 25;
const L2 = 1;
const MAX_FEATURES = 200;

/** A joined decision as a learner sees it. */
export interface TrainingRow extends Observation {
  served: Candidate;
  reward: number;
}

type Schema = Readonly<Record<string, unknown>>;
interface SchemaProperty {
  type?: string;
  enum?: readonly unknown[];
}

/** Features that a schema's properties make: numbers and booleans by value, enums by indicator. */
function featuresOfSchema(space: 'ctx' | 'cand', schema: Schema): string[] {
  const properties = (schema.properties ?? {}) as Record<string, SchemaProperty>;
  return Object.entries(properties).flatMap(([key, { type, enum: codes }]) => {
    if (codes) return codes.map(code => `${space}.${key}=${String(code)}`);
    return type === 'string' ? [] : [`${space}.${key}`];
  });
}

export interface FeatureNames {
  /** Of the context alone, with the constant. */
  context: string[];
  /** Context, candidate, and how they meet. */
  crossed: string[];
}

/** Feature names of a policy's schemas and the candidates that were served, in a fixed order. */
export function featureNames(contextSchema: Schema, candidateSchema: Schema, candidateIds: readonly string[]): FeatureNames {
  const context = featuresOfSchema('ctx', contextSchema);
  const ids = [...candidateIds].sort().map(id => `cand.id=${id}`);
  const crosses = ids.flatMap(id => context.map(one => `${one}*${id}`));
  const plain = [...context, ...featuresOfSchema('cand', candidateSchema), ...ids];
  return { context: ['1', ...context], crossed: plain.length + crosses.length <= MAX_FEATURES ? [...plain, ...crosses] : plain };
}

/** A map in which every name is free, `__proto__` too. */
const named = <Held>(): Record<string, Held> => Object.create(null) as Record<string, Held>;

function addTo(counts: Record<string, Counts>, id: string, reward: number): void {
  const one = (counts[id] ??= { s: 0, c: 0 });
  one.s += reward;
  one.c += 1;
}

/** Sums of rewards and servings, over all and by segment. */
function trainPopularity(rows: readonly TrainingRow[], segmentKeys: readonly string[]): PopularityPart {
  const [global, segments] = [named<Counts>(), named<Record<string, Counts>>()];
  for (const { served, reward, context } of rows) {
    addTo(global, served.id, reward);
    addTo((segments[segmentOf(segmentKeys, context)] ??= named()), served.id, reward);
  }
  return { prior_strength: PRIOR_STRENGTH.popularity, global, segments };
}

/** Beta posteriors by segment and candidate: prior of strength 2 at the global rate, then successes and failures. */
export function trainThompson(rows: readonly TrainingRow[], segmentKeys: readonly string[]): ThompsonPart {
  const counts = trainPopularity(rows, segmentKeys);
  const rate = Math.min(0.95, Math.max(0.05, globalRate(counts))); // a prior at 0 or 1 could not be moved
  const prior = { alpha: PRIOR_STRENGTH.thompson * rate, beta: PRIOR_STRENGTH.thompson * (1 - rate) };
  const posterior = ({ s, c }: Counts) => ({ alpha: prior.alpha + s, beta: prior.beta + c - s });
  const ofSegment = (own: Readonly<Record<string, Counts>>) =>
    Object.fromEntries(Object.entries(own).map(([id, one]) => [id, posterior(one)]));
  return { segments: Object.fromEntries(Object.entries(counts.segments).map(([key, own]) => [key, ofSegment(own)])), default: prior };
}

/** Disjoint ridge regressions: A = I + Σ x xᵀ, θ = A⁻¹ Σ r x. Source: Li et al., LinUCB, WWW 2010, algorithm 1. */
function trainLinUcb(rows: readonly TrainingRow[], features: readonly string[], alpha = 1): LinUcbPart {
  const ids = [...new Set(rows.map(({ served }) => served.id))].sort();
  const arm = (id: string) => {
    const a = Matrix.eye(features.length, features.length);
    const b = Matrix.zeros(features.length, 1);
    for (const row of rows.filter(({ served }) => served.id === id)) {
      const x = encode(features, row, row.served);
      addOuter(a, x);
      x.forEach((value, index) => b.set(index, 0, b.get(index, 0) + value * row.reward));
    }
    const inverted = inverse(a);
    return { a_inv: inverted.to2DArray(), theta: inverted.mmul(b).to1DArray() };
  };
  return { alpha, features, arms: Object.fromEntries(ids.map(id => [id, arm(id)])) };
}

/** A += x xᵀ. */
function addOuter(a: Matrix, x: readonly number[]): void {
  for (let i = 0; i < x.length; i++) {
    if (x[i] === 0) continue;
    for (let j = 0; j < x.length; j++) a.set(i, j, a.get(i, j) + x[i]! * x[j]!);
  }
}

/** Rows with the same features, counted: features are codes and bands, so there are far fewer of these than rows. */
interface Pattern {
  x: readonly number[];
  count: number;
  reward: number;
}

function patternsOf(xs: readonly (readonly number[])[], rewards: readonly number[]): Pattern[] {
  const patterns = new Map<string, Pattern>();
  xs.forEach((x, row) => {
    const key = x.join(' ');
    const pattern = patterns.get(key) ?? { x: [1, ...x], count: 0, reward: 0 };
    patterns.set(key, pattern);
    pattern.count++;
    pattern.reward += rewards[row]!;
  });
  return [...patterns.values()];
}

/** Gradient and Hessian of the penalised log likelihood at w; the constant, which comes first, is not shrunk. */
function slopes(patterns: readonly Pattern[], w: readonly number[], l2: number): { hessian: Matrix; gradient: Matrix } {
  const hessian = Matrix.diag(w.map((_, index) => (index === 0 ? 1e-6 : l2)));
  const gradient = Matrix.columnVector(w.map((value, index) => (index === 0 ? 0 : -l2 * value)));
  for (const { x, count, reward } of patterns) {
    const p = sigmoid(dot(w, x));
    const curvature = Math.sqrt(count * Math.max(p * (1 - p), 1e-9));
    addOuter(
      hessian,
      x.map(value => value * curvature),
    );
    x.forEach((value, index) => gradient.set(index, 0, gradient.get(index, 0) + value * (reward - count * p)));
  }
  return { hessian, gradient };
}

/** L2-regularised logistic regression by Newton's method. Answers the constant, then the weights. Source: Hastie et al., ESL 4.4.1. */
function fitLogistic(xs: readonly (readonly number[])[], rewards: readonly number[], l2 = L2): number[] {
  const patterns = patternsOf(xs, rewards);
  let w: number[] = Array.from({ length: (xs[0]?.length ?? 0) + 1 }, () => 0);
  for (let step = 0; step < NEWTON_STEPS; step++) {
    const { hessian, gradient } = slopes(patterns, w, l2);
    const move = solve(hessian, gradient).to1DArray();
    w = w.map((value, index) => value + move[index]!);
    if (Math.max(...move.map(Math.abs)) < 1e-8) break;
  }
  return w;
}

/** Platt scaling of scores on held-out data; scores that say nothing stay as they are. */
function plattOf(scores: readonly number[], rewards: readonly number[]): PlattScaling {
  if (new Set(rewards).size < 2 || scores.length < 20) return { a: 1, b: 0 };
  const [b, a] = fitLogistic(
    scores.map(score => [score]),
    rewards,
    1e-3,
  );
  return Number.isFinite(a!) && a! > 0 ? { a: a!, b: b! } : { a: 1, b: 0 };
}

/** Which rows are held out: each with probability 0.2, from a seeded generator. */
export function heldOut(count: number, seed: number): boolean[] {
  const next = uniformsOf(seed);
  return Array.from({ length: count }, () => next() < HELD_OUT);
}

/** Logistic model on context × candidate features, calibrated on held-out data. */
function trainLogistic(rows: readonly TrainingRow[], features: readonly string[], seed: number): LogisticPart {
  const out = heldOut(rows.length, seed);
  const xs = rows.map(row => encode(features, row, row.served));
  const rewards = rows.map(({ reward }) => reward);
  const kept = <T>(list: readonly T[], want: boolean): T[] => list.filter((_, index) => out[index] === want);
  const [intercept, ...weights] = fitLogistic(kept(xs, false), kept(rewards, false));
  const scores = kept(xs, true).map(x => intercept! + dot(weights, x));
  return { features, weights, intercept: intercept!, calibration: plattOf(scores, kept(rewards, true)) };
}

export interface TrainingSetting {
  rankers: readonly Ranker[];
  segmentKeys: readonly string[];
  contextSchema: Schema;
  candidateSchema: Schema;
  seed: number;
}

/** A bundle of the asked parts; deterministic for rows, seed and code. Source: intelligence 7.3.23. */
export function train(rows: readonly TrainingRow[], setting: TrainingSetting): Bundle {
  const { rankers, segmentKeys, contextSchema, candidateSchema, seed } = setting;
  const names = featureNames(contextSchema, candidateSchema, [...new Set(rows.map(({ served }) => served.id))]);
  const wants = (ranker: Ranker): boolean => rankers.includes(ranker);
  return {
    ...(wants(Ranker.POPULARITY) && { popularity: trainPopularity(rows, segmentKeys) }),
    ...(wants(Ranker.LOGISTIC) && { logistic: trainLogistic(rows, names.crossed, seed) }),
    ...(wants(Ranker.THOMPSON) && { thompson: trainThompson(rows, segmentKeys) }),
    ...(wants(Ranker.LINUCB) && { linucb: trainLinUcb(rows, names.context) }),
  };
}

/** Held-out metrics of predictions: ECE, Brier and log loss. */
export function offlineMetrics(rows: readonly { predicted: number; reward: number }[]): Record<string, number> | null {
  if (rows.length === 0) return null;
  const { ece, brier, n } = calibrationOf(binSums(rows));
  const inside = (p: number): number => Math.min(1 - 1e-9, Math.max(1e-9, p));
  const loss = rows.reduce(
    (sum, { predicted, reward }) => sum - reward * Math.log(inside(predicted)) - (1 - reward) * Math.log(1 - inside(predicted)),
    0,
  );
  return { n, ece, brier, log_loss: loss / n };
}
