import jsonLogic from 'json-logic-js';
import { Ranker } from '../entities/enums.js';
import type { BetaParameters, Bundle, LinUcbPart, LogisticPart, PlattScaling, PopularityPart, RulesPart, ThompsonPart } from './bundle.js';
import { dot, encode, own, segmentOf, type Candidate, type Observation } from './values.js';

export const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z));
const clamp = (value: number): number => Math.min(1, Math.max(0, value));
const DEFAULT_PRIOR_STRENGTH = 20;

/** Weighted sum of the rules that hold, over `ctx` and `cand`. Source: intelligence 4.2, S1. */
const ruleScore = (part: RulesPart, { context }: Observation, candidate: Candidate): number =>
  part.rules.reduce((sum, { when, add }) => {
    const data = { ctx: context, cand: { ...candidate.features, id: candidate.id, tags: candidate.tags } };
    return jsonLogic.apply(when as never, data) === true ? sum + add : sum;
  }, 0);

/** g = Σ s / Σ c over all candidates; 0.5 where nothing is known. */
export function globalRate({ global }: PopularityPart): number {
  const counts = Object.values(global);
  const served = counts.reduce((sum, { c }) => sum + c, 0);
  return served === 0 ? 0.5 : counts.reduce((sum, { s }) => sum + s, 0) / served;
}

/**
 * Shrunk rate of a candidate in a segment: r_a = (s_a + m·g)/(c_a + m), then (s + m·r_a)/(c + m); without a segment row r_a, an unknown
 * candidate g. Source: empirical-Bayes shrinkage, intelligence 4.2, S2.
 */
export function popularityRate(part: PopularityPart, segment: string, candidateId: string): number {
  const m = part.prior_strength ?? DEFAULT_PRIOR_STRENGTH;
  const g = globalRate(part);
  const all = own(part.global, candidateId);
  const rate = all ? (all.s + m * g) / (all.c + m) : g;
  const here = own(own(part.segments, segment) ?? {}, candidateId);
  return clamp(here ? (here.s + m * rate) / (here.c + m) : rate);
}

/** σ(a·z + b) of the linear score z. Source: Platt, Probabilistic Outputs for Support Vector Machines, 1999. */
function logisticRate(part: LogisticPart, fallback: PlattScaling | undefined, observation: Observation, candidate: Candidate): number {
  const z = part.intercept + dot(part.weights, encode(part.features, observation, candidate));
  const { a, b } = part.calibration ?? fallback ?? { a: 1, b: 0 };
  return sigmoid(a * z + b);
}

export const posteriorOf = (part: ThompsonPart, segment: string, candidateId: string): BetaParameters =>
  own(own(part.segments, segment) ?? {}, candidateId) ?? part.default;

const posteriorMean = ({ alpha, beta }: BetaParameters): number => alpha / (alpha + beta);

/** x·θ and α·sqrt(xᵀA⁻¹x); an arm that is not listed has A = I and θ = 0. Source: Li et al., LinUCB, WWW 2010, algorithm 1. */
export function linUcb(part: LinUcbPart, observation: Observation, candidate: Candidate): { mean: number; bonus: number } {
  const x = encode(part.features, observation, candidate);
  const arm = own(part.arms, candidate.id);
  if (!arm) return { mean: 0, bonus: part.alpha * Math.sqrt(dot(x, x)) };
  let spread = 0;
  for (let row = 0; row < x.length; row++) spread += x[row]! * dot(arm.a_inv[row]!, x);
  return { mean: dot(x, arm.theta), bonus: part.alpha * Math.sqrt(Math.max(0, spread)) };
}

/** Score and expected reward of a candidate by a ranker. */
export interface Scored {
  score: number | null;
  prediction: number | null;
}

/** Scores a candidate by a ranker that the bundle has a part for. */
export function scoreBy(
  ranker: Ranker,
  bundle: Bundle,
  segmentKeys: readonly string[],
  observation: Observation,
  candidate: Candidate,
): Scored {
  const segment = (): string => segmentOf(segmentKeys, observation.context);
  const same = (rate: number): Scored => ({ score: rate, prediction: rate });
  if (ranker === Ranker.RULES) return { score: ruleScore(bundle.rules!, observation, candidate), prediction: null };
  if (ranker === Ranker.POPULARITY) return same(popularityRate(bundle.popularity!, segment(), candidate.id));
  if (ranker === Ranker.LOGISTIC) return same(logisticRate(bundle.logistic!, bundle.calibration, observation, candidate));
  if (ranker === Ranker.THOMPSON) return same(posteriorMean(posteriorOf(bundle.thompson!, segment(), candidate.id)));
  if (ranker === Ranker.PASSTHROUGH) return { score: null, prediction: null };
  const { mean, bonus } = linUcb(bundle.linucb!, observation, candidate);
  return { score: mean + bonus, prediction: clamp(mean) };
}
