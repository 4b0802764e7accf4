import { OffPolicyEstimatorName, OffPolicyState } from '../entities/enums.js';
import { studentQuantile, Z95 } from './quantiles.js';

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

/** Below this effective sample size nothing is concluded. Source: intelligence 7.2. */
export const MIN_ESS = 100;
/** Share of rows with an action that was never logged, above which an evaluation has no support. */
export const MAX_UNSUPPORTED = 0.01;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Sums of terms by cluster; each row is its own where none is named. */
function clusterSums(rows: readonly LoggedRow[], terms: readonly number[]): number[] {
  if (rows.every(row => row.cluster === undefined)) return [...terms];
  const sums = new Map<string, number>();
  rows.forEach((row, index) => sums.set(row.cluster ?? `row ${index}`, (sums.get(row.cluster ?? `row ${index}`) ?? 0) + terms[index]!));
  return [...sums.values()];
}

/** How far an estimate is from the truth: its standard error, and what its variance rests on. */
interface Spread {
  se: number;
  /** Degrees of freedom of the variance. */
  degrees: number;
}

/** An estimate or a difference with how sure it is. */
export interface Lift extends Spread {
  value: number;
}

/** One row dominates where there are fewer; the effective sample size tells of it. */
const FEWEST_DEGREES = 3;

/**
 * Degrees of freedom of a variance that is a sum of squares: 2 V²/Var(V) − 1. n − 1 for equal and normal terms; far fewer where a few rows with great
 * weights make the variance up, and then 1.96 standard errors are too few: they cover 91 to 93 %. Source: Satterthwaite, Biometrics Bulletin
 * 1946; for robust variances Pan and Wall, Statistics in Medicine 2002.
 */
function degreesOf(sums: readonly number[]): number {
  const squares = sums.map(one => one * one);
  const second = squares.reduce((total, one) => total + one, 0);
  const fourth = squares.reduce((total, one) => total + one * one, 0);
  const variance = fourth - second ** 2 / sums.length;
  return variance > 0 ? Math.max(FEWEST_DEGREES, (2 * second ** 2) / variance - 1) : Infinity;
}

/**
 * Of an estimate that differs from the truth by the mean of these errors, which sum to 0; clustered: sqrt(Σ_g (Σ_{i∈g} e_i)²)/n, for a mean with
 * the factor G/(G−1) of a sample variance. Null below two clusters.
 */
function spreadOf(rows: readonly LoggedRow[], errors: readonly number[], isMean = false): Spread | null {
  const sums = clusterSums(rows, errors);
  if (sums.length < 2) return null;
  const factor = isMean ? sums.length / (sums.length - 1) : 1;
  return { se: Math.sqrt(factor * sums.reduce((total, one) => total + one * one, 0)) / rows.length, degrees: degreesOf(sums) };
}

function spreadOfMean(rows: readonly LoggedRow[], terms: readonly number[]): Spread | null {
  const centre = mean(terms);
  return spreadOf(
    rows,
    terms.map(one => one - centre),
    true,
  );
}

/** The 95 % interval of one look: by Student's t, not by the normal distribution. */
export function interval95({ value, se, degrees }: Lift): { value: number; ciLow: number; ciHigh: number } {
  const margin = studentQuantile(Z95, degrees) * se;
  return { value, ciLow: value - margin, ciHigh: value + margin };
}

function estimate(name: OffPolicyEstimatorName, value: number, spread: Spread | null): Estimate {
  if (!spread || !Number.isFinite(spread.se)) return { name, value, se: null, ciLow: null, ciHigh: null };
  return { name, se: spread.se, ...interval95({ value, ...spread }) };
}

/** w_i = π_e(a_i|x_i)/p_i; never clipped. */
export const weightsOf = (rows: readonly LoggedRow[]): number[] => rows.map(row => row.target / row.propensity);

/** Inverse propensity score: (1/n) Σ w r. Source: Horvitz and Thompson 1952; intelligence 7.2. */
function ips(rows: readonly LoggedRow[], weights: readonly number[]): Estimate {
  const terms = rows.map((row, index) => weights[index]! * row.reward);
  return estimate(OffPolicyEstimatorName.IPS, mean(terms), spreadOfMean(rows, terms));
}

/** Self-normalised IPS: Σ w r / Σ w, variance Σ w²(r − v)² / (Σ w)² by linearisation. Source: Swaminathan and Joachims, NeurIPS 2015. */
function snips(rows: readonly LoggedRow[], weights: readonly number[]): Estimate {
  const total = weights.reduce((sum, one) => sum + one, 0);
  const value = rows.reduce((sum, row, index) => sum + weights[index]! * row.reward, 0) / total;
  const scale = rows.length / total;
  const errors = rows.map((row, index) => scale * weights[index]! * (row.reward - value));
  return estimate(OffPolicyEstimatorName.SNIPS, value, spreadOf(rows, errors));
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
  return estimate(OffPolicyEstimatorName.DR, mean(terms), spreadOfMean(rows, terms));
}

/** DM + Σ w (r − q) / Σ w, with the variance of both parts: that of DM is not nothing where contexts differ. */
function sndr(rows: readonly LoggedRow[], weights: readonly number[]): Estimate {
  const total = weights.reduce((sum, one) => sum + one, 0);
  const base = mean(rows.map(row => row.expected));
  const correction = rows.reduce((sum, row, index) => sum + weights[index]! * (row.reward - row.q), 0) / total;
  const scale = rows.length / total;
  const errors = rows.map((row, index) => row.expected - base + scale * weights[index]! * (row.reward - row.q - correction));
  return estimate(OffPolicyEstimatorName.SNDR, base + correction, spreadOf(rows, errors));
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

/** Difference of two policies on the same rows by DR: the terms are paired. Null below two clusters. */
export function pairedLift(candidate: readonly LoggedRow[], target: readonly LoggedRow[]): Lift | null {
  const ofTarget = drTerms(target, weightsOf(target));
  const terms = drTerms(candidate, weightsOf(candidate)).map((one, index) => one - ofTarget[index]!);
  const spread = spreadOfMean(candidate, terms);
  return spread && { value: mean(terms), ...spread };
}

/** Whether an evaluation is conclusive; the greatest weight decides nothing. Source: intelligence 7.2. */
export function stateOf(n: number, ess: number, supportViolations: number): OffPolicyState {
  if (n > 0 && supportViolations > MAX_UNSUPPORTED * n) return OffPolicyState.UNSUPPORTED;
  return ess < MIN_ESS ? OffPolicyState.INCONCLUSIVE : OffPolicyState.CONCLUSIVE;
}
