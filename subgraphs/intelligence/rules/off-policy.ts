import { OffPolicyEstimatorName, OffPolicyState } from '../entities/enums.js';

/** A logged decision as the estimators see it. */
export interface LoggedRow {
  reward: number;
  /** Of the action that was logged. */
  propensity: number;
  /** Probability of the logged action under the policy that is evaluated. */
  target: number;
  /** Expected reward of the logged action by the reward model. */
  q: number;
  /** Σ_a π_e(a|x) q(x,a). */
  expected: number;
  /** Rows of one entity are not independent. */
  cluster?: string;
}

export interface Estimate {
  name: OffPolicyEstimatorName;
  value: number;
  se: number | null;
  ciLow: number | null;
  ciHigh: number | null;
}

/** 97.5 % quantile of the standard normal distribution. */
export const Z95 = 1.959963984540054;
/** Below this effective sample size, or above this weight, nothing is concluded. Source: intelligence 7.2. */
export const MIN_ESS = 100;
const MAX_WEIGHT = 50;
/** Share of rows with an action that was never logged, above which an evaluation has no support. */
const MAX_UNSUPPORTED = 0.01;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Sums of terms by cluster; each row is its own where none is named. */
function clusterSums(rows: readonly LoggedRow[], terms: readonly number[]): number[] {
  if (rows.every(row => row.cluster === undefined)) return [...terms];
  const sums = new Map<string, number>();
  rows.forEach((row, index) => sums.set(row.cluster ?? `row ${index}`, (sums.get(row.cluster ?? `row ${index}`) ?? 0) + terms[index]!));
  return [...sums.values()];
}

/** Variance of a mean of terms around their mean, clustered: G/(G−1) · Σ_g (Σ_{i∈g} e_i)² / n². Without clusters: sample variance / n. */
function varianceOfMean(rows: readonly LoggedRow[], terms: readonly number[]): number {
  const centre = mean(terms);
  const sums = clusterSums(
    rows,
    terms.map(one => one - centre),
  );
  const groups = sums.length;
  if (groups < 2) return Number.NaN;
  return ((groups / (groups - 1)) * sums.reduce((total, one) => total + one * one, 0)) / rows.length ** 2;
}

/** Σ_g (Σ_{i∈g} w_i e_i)² / (Σ w)²: variance of a ratio by linearisation. */
function varianceOfRatio(rows: readonly LoggedRow[], weights: readonly number[], errors: readonly number[]): number {
  const total = weights.reduce((sum, one) => sum + one, 0);
  const sums = clusterSums(
    rows,
    weights.map((weight, index) => weight * errors[index]!),
  );
  return sums.reduce((sum, one) => sum + one * one, 0) / total ** 2;
}

function estimate(name: OffPolicyEstimatorName, value: number, variance: number): Estimate {
  const se = Number.isFinite(variance) ? Math.sqrt(variance) : null;
  return { name, value, se, ciLow: se === null ? null : value - Z95 * se, ciHigh: se === null ? null : value + Z95 * se };
}

/** w_i = π_e(a_i|x_i)/p_i; never clipped. */
export const weightsOf = (rows: readonly LoggedRow[]): number[] => rows.map(row => row.target / row.propensity);

/** Inverse propensity score: (1/n) Σ w r. Source: Horvitz and Thompson 1952; intelligence 7.2. */
function ips(rows: readonly LoggedRow[], weights: readonly number[]): Estimate {
  const terms = rows.map((row, index) => weights[index]! * row.reward);
  return estimate(OffPolicyEstimatorName.IPS, mean(terms), varianceOfMean(rows, terms));
}

/** Self-normalised IPS: Σ w r / Σ w. Source: Swaminathan and Joachims, NeurIPS 2015. */
function snips(rows: readonly LoggedRow[], weights: readonly number[]): Estimate {
  const total = weights.reduce((sum, one) => sum + one, 0);
  const value = rows.reduce((sum, row, index) => sum + weights[index]! * row.reward, 0) / total;
  const errors = rows.map(row => row.reward - value);
  return estimate(OffPolicyEstimatorName.SNIPS, value, varianceOfRatio(rows, weights, errors));
}

/** Direct method: (1/n) Σ_i Σ_a π_e(a|x_i) q(x_i,a); its error is that of the model, so it has no interval. */
function dm(rows: readonly LoggedRow[]): Estimate {
  return { name: OffPolicyEstimatorName.DM, value: mean(rows.map(row => row.expected)), se: null, ciLow: null, ciHigh: null };
}

/** Doubly robust: per-row terms of {@link dr}. */
const drTerms = (rows: readonly LoggedRow[], weights: readonly number[]): number[] =>
  rows.map((row, index) => row.expected + weights[index]! * (row.reward - row.q));

/** DM + (1/n) Σ w (r − q). Source: Dudík, Langford and Li, ICML 2011. */
function dr(rows: readonly LoggedRow[], weights: readonly number[]): Estimate {
  const terms = drTerms(rows, weights);
  return estimate(OffPolicyEstimatorName.DR, mean(terms), varianceOfMean(rows, terms));
}

/** DM + Σ w (r − q) / Σ w. */
function sndr(rows: readonly LoggedRow[], weights: readonly number[]): Estimate {
  const total = weights.reduce((sum, one) => sum + one, 0);
  const base = mean(rows.map(row => row.expected));
  const correction = rows.reduce((sum, row, index) => sum + weights[index]! * (row.reward - row.q), 0) / total;
  const errors = rows.map(row => row.reward - row.q - correction);
  return estimate(OffPolicyEstimatorName.SNDR, base + correction, varianceOfRatio(rows, weights, errors));
}

/** All estimators, in the order of the contract. Needs at least one row. */
export function estimates(rows: readonly LoggedRow[]): Estimate[] {
  const weights = weightsOf(rows);
  return [ips(rows, weights), snips(rows, weights), dm(rows), dr(rows, weights), sndr(rows, weights)];
}

/** Kish's effective sample size: (Σw)²/Σw². */
export function effectiveSampleSize(weights: readonly number[]): number {
  const squares = weights.reduce((sum, one) => sum + one * one, 0);
  return squares === 0 ? 0 : weights.reduce((sum, one) => sum + one, 0) ** 2 / squares;
}

/** Difference of two policies on the same rows by DR, with its interval: the terms are paired. */
export function pairedLift(
  candidate: readonly LoggedRow[],
  target: readonly LoggedRow[],
): { value: number; ciLow: number; ciHigh: number } {
  const ofTarget = drTerms(target, weightsOf(target));
  const terms = drTerms(candidate, weightsOf(candidate)).map((one, index) => one - ofTarget[index]!);
  const [value, se] = [mean(terms), Math.sqrt(varianceOfMean(candidate, terms))];
  return { value, ciLow: value - Z95 * se, ciHigh: value + Z95 * se };
}

/** Whether an evaluation is conclusive. Source: intelligence 7.2. */
export function stateOf(n: number, ess: number, maxWeight: number, supportViolations: number): OffPolicyState {
  if (n > 0 && supportViolations > MAX_UNSUPPORTED * n) return OffPolicyState.UNSUPPORTED;
  return ess < MIN_ESS || maxWeight > MAX_WEIGHT ? OffPolicyState.INCONCLUSIVE : OffPolicyState.CONCLUSIVE;
}
