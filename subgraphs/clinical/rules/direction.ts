import { BiomarkerDirection, type BiomarkerNoise, BiomarkerNoiseModel } from '../entities/biomarker.js';
import { BiomarkerObservationComparator as Comparator } from '../entities/result.js';
import { RetestCycleOutcomeBasis as Basis, RetestCycleOutcomeDirection as Direction } from '../entities/retest-cycle.js';
import { TrendChange } from '../entities/trend.js';
import type { ValueRange } from '../entities/units.js';

/** A result in the canonical unit; with a comparator it is the limit of an interval. */
export interface Measured {
  value: number;
  comparator: Comparator | null;
}

export interface Comparison {
  direction: BiomarkerDirection;
  noise: BiomarkerNoise;
  /** Cycle target, else OPTIMAL, else REFERENCE; null for none. */
  target: ValueRange | null;
  /** Both performers are known and differ. */
  otherLab: boolean;
  baseline: Measured;
  followUp: Measured;
}

export interface Outcome {
  direction: Direction;
  basis: Basis;
  crossedTarget: boolean;
}

/** Stand-ins for the open ends of (0, L] and [L, ∞): beyond every laboratory value, and their logarithms and differences stay finite. */
const ALMOST_NOTHING = 1e-290;
const ALMOST_INFINITE = 1e290;
/** What differs by less, in proportion, is the same: the rounding of conversions and logarithms decides nothing. */
const EQUAL = 1e-12;

/** Ends of the interval of values that a result stands for: `<L` is (0, L], `>L` is [L, ∞). Source: clinical 7.2.7. */
export function spanOf({ value, comparator }: Measured): [number, number] {
  if (comparator === null) return [value, value];
  const below = comparator === Comparator.LT || comparator === Comparator.LE;
  return below ? [Math.min(ALMOST_NOTHING, value), value] : [Math.max(value, ALMOST_NOTHING), ALMOST_INFINITE];
}

/** Analytical variation of this pair of results. */
const analytical = (noise: BiomarkerNoise, otherLab: boolean): number =>
  otherLab ? (noise.cvAnalyticalBetween ?? 2 * noise.cvAnalytical!) : noise.cvAnalytical!;

/**
 * Largest change that an unchanged person shows in one direction with the probability that z stands for: of ln(f/b) for
 * LOG_NORMAL, z·√2·√ln(1 + CVa² + CVi²), of f - b for ABSOLUTE, z·√2·sd. Source: clinical 7.2.2.
 */
export function noiseLimit(noise: BiomarkerNoise, otherLab: boolean): number {
  if (noise.model === BiomarkerNoiseModel.ABSOLUTE) return noise.z * Math.SQRT2 * noise.sd!;
  return noise.z * Math.SQRT2 * Math.sqrt(Math.log(1 + analytical(noise, otherLab) ** 2 + noise.cvWithin! ** 2));
}

/** Position of a value on the scale on which noise is even: its logarithm, or itself. */
type Scale = (value: number) => number;
const scaleOf = (noise: BiomarkerNoise): Scale => (noise.model === BiomarkerNoiseModel.LOG_NORMAL ? Math.log : value => value);

interface Edges {
  low: number;
  high: number;
}

/** Edges in use on the scale: LOWER_IS_BETTER only the high one, HIGHER_IS_BETTER only the low one. Null for none. */
function edgesOf(direction: BiomarkerDirection, target: ValueRange | null, scale: Scale): Edges | null {
  const low = direction === BiomarkerDirection.LOWER_IS_BETTER ? null : (target?.low ?? null);
  const high = direction === BiomarkerDirection.HIGHER_IS_BETTER ? null : (target?.high ?? null);
  if (low === null && high === null) return null;
  return { low: low === null ? -Infinity : scale(low), high: high === null ? Infinity : scale(high) };
}

/** Rounding of two positions on the scale. */
const dust = (a: number, b: number): number => EQUAL * Math.max(1, Math.abs(a), Math.abs(b));

/** Negative below the target, positive above it, 0 inside and on the edge: the distance with its side. */
function offTarget({ low, high }: Edges, at: number): number {
  const off = at < low ? at - low : at > high ? at - high : 0;
  return Math.abs(off) <= dust(at, at - off) ? 0 : off;
}

const bySign = (higherIsBetter: boolean, change: number): Direction =>
  change > 0 === higherIsBetter ? Direction.IMPROVED : Direction.WORSENED;

function withoutTarget(direction: BiomarkerDirection, change: number): Outcome {
  if (direction === BiomarkerDirection.WITHIN_RANGE)
    return { direction: Direction.UNCHANGED, basis: Basis.NO_TARGET, crossedTarget: false };
  return {
    direction: bySign(direction === BiomarkerDirection.HIGHER_IS_BETTER, change),
    basis: Basis.DIRECTION_ONLY,
    crossedTarget: false,
  };
}

function withTarget(edges: Edges, from: number, to: number): Outcome {
  const [before, after] = [offTarget(edges, from), offTarget(edges, to)];
  if (before === 0 && after === 0) return { direction: Direction.UNCHANGED, basis: Basis.INSIDE_TARGET, crossedTarget: false };
  const gain = Math.abs(before) - Math.abs(after);
  const direction = Math.abs(gain) <= dust(before, after) ? Direction.UNCHANGED : gain > 0 ? Direction.IMPROVED : Direction.WORSENED;
  return { direction, basis: Basis.TARGET, crossedTarget: before * after < 0 };
}

/** Two exact values on the scale. Source: clinical 7.2.3-7.2.6. */
function comparePoints(direction: BiomarkerDirection, edges: Edges | null, limit: number, from: number, to: number): Outcome {
  if (!(Math.abs(to - from) > limit)) return { direction: Direction.UNCHANGED, basis: Basis.WITHIN_NOISE, crossedTarget: false };
  return edges ? withTarget(edges, from, to) : withoutTarget(direction, to - from);
}

/** Where an interval has to be looked at: its ends and the edges inside it. */
function points(measured: Measured, edges: Edges | null, scale: Scale): number[] {
  const [start, end] = spanOf(measured).map(scale) as [number, number];
  if (measured.comparator === null) return [start];
  return [start, end, ...(edges ? [edges.low, edges.high].filter(edge => edge > start && edge < end) : [])];
}

function compareSpans(comparison: Comparison, edges: Edges | null, limit: number, scale: Scale): Outcome {
  const { direction, baseline, followUp } = comparison;
  const all = points(baseline, edges, scale).flatMap(from =>
    points(followUp, edges, scale).map(to => comparePoints(direction, edges, limit, from, to)),
  );
  const agreed = all.every(one => one.direction === all[0]!.direction) ? all[0]!.direction : Direction.UNCHANGED;
  return { direction: agreed, basis: Basis.CENSORED, crossedTarget: all.every(one => one.crossedTarget) };
}

/**
 * Whether a person got better: beyond the noise of the measurement, closer to the target or farther from it. Exact, pure,
 * independent of the input units. Values are positive under LOG_NORMAL. Source: clinical 7.2.
 */
export function compare(comparison: Comparison): Outcome {
  const { direction, noise, baseline, followUp } = comparison;
  const scale = scaleOf(noise);
  const edges = edgesOf(direction, comparison.target, scale);
  const limit = noiseLimit(noise, comparison.otherLab);
  if (baseline.comparator === null && followUp.comparator === null)
    return comparePoints(direction, edges, limit, scale(baseline.value), scale(followUp.value));
  return compareSpans(comparison, edges, limit, scale);
}

/** Whether a result can be compared at all: under LOG_NORMAL an exact value must be positive, and so must the limit of `<`. */
export function isComparable(noise: BiomarkerNoise, { value, comparator }: Measured): boolean {
  if (!Number.isFinite(value)) return false;
  const openAbove = comparator === Comparator.GE || comparator === Comparator.GT;
  return noise.model === BiomarkerNoiseModel.ABSOLUTE || value > 0 || openAbove;
}

/** Whether the second of two results differs from the first by more than noise; censored ones only when all values that they stand for do. */
export function changeBetween(noise: BiomarkerNoise, otherLab: boolean, before: Measured, after: Measured): TrendChange {
  const [scale, limit] = [scaleOf(noise), noiseLimit(noise, otherLab)];
  const [from, to] = [before, after].map(one => spanOf(one).map(scale)) as [[number, number], [number, number]];
  if (to[0] - from[1] > limit) return TrendChange.RISE;
  return from[0] - to[1] > limit ? TrendChange.FALL : TrendChange.NONE;
}
