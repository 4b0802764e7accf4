import type { Lift } from './off-policy.js';
import { normalTail, studentQuantile } from './quantiles.js';

/** A look at an accumulating comparison. */
export interface Look {
  /** 1/se² of the difference then. */
  information: number;
  /** The difference had to exceed so many standard errors. */
  bound: number;
}

/** The information that finds a lift of 0.05 with a power of 80 % at 2.5 %: ((1.96 + 0.84)/0.05)². */
const PLANNED = (2.8 / 0.05) ** 2;
/** Probability of a false PROMOTE until the planned information, and what is left for ever after. Source: intelligence 7.4, promotion (≤ 5 %). */
const [ERROR, LATER] = [0.0275, 0.0075];
/** A look costs some of the error, so it is worth it when there is so much more information than at the last. */
const GROWTH = 1.05;

/** The error that may be spent until an amount of information. Source: Kim and DeMets, Biometrika 1987, power family with ρ = 1.5. */
function spentAt(information: number): number {
  const share = information / PLANNED;
  return ERROR * Math.min(1, share) ** 1.5 + LATER * (1 - 1 / Math.max(1, share));
}

/** The grid on which the density of the standardised difference is kept. */
const [LOWEST, STEP] = [-8, 0.04];

/** Density of the standardised difference below a bound, among paths that crossed none before. */
interface Density {
  points: readonly number[];
  /** Density times the width of each cell. */
  mass: readonly number[];
  information: number;
}

const normalDensity = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** Midpoints of equal cells from {@link LOWEST} to the bound. */
function gridTo(bound: number): { points: number[]; width: number } {
  const cells = Math.ceil((bound - LOWEST) / STEP);
  const width = (bound - LOWEST) / cells;
  return { points: Array.from({ length: cells }, (_, index) => LOWEST + (index + 0.5) * width), width };
}

/** Z_k = r Z_{k−1} + √(1−r²) ξ with r² the ratio of the informations: increments are independent. */
function step(before: Density | null, { information, bound }: Look): Density {
  const { points, width } = gridTo(bound);
  if (!before) return { points, mass: points.map(z => width * normalDensity(z)), information };
  const r = Math.sqrt(before.information / information);
  const spread = Math.sqrt(1 - r * r);
  const densityAt = (z: number): number =>
    before.points.reduce((sum, from, index) => sum + before.mass[index]! * normalDensity((z - r * from) / spread), 0) / spread;
  return { points, mass: points.map(z => width * densityAt(z)), information };
}

/** Probability to exceed a bound for the first time at this look, if there is no difference. */
function crossing(before: Density | null, information: number, bound: number): number {
  if (!before) return normalTail(bound);
  const r = Math.sqrt(before.information / information);
  const spread = Math.sqrt(1 - r * r);
  return before.points.reduce((sum, from, index) => sum + before.mass[index]! * normalTail((bound - r * from) / spread), 0);
}

/** Whether there is enough more information for another look. */
const isWorthALook = (looks: readonly Look[], information: number): boolean =>
  looks.length === 0 || information >= GROWTH * looks.at(-1)!.information;

/**
 * How many standard errors a difference has to be above 0 at the next look, so that over all looks together a difference of 0 exceeds its bounds
 * with a probability of at most 0.035. The bound follows the information that there is and not the number of looks. Needs {@link isWorthALook}.
 * Source: Lan and DeMets, Discrete sequential boundaries for clinical trials, Biometrika 1983 (spending); Armitage, McPherson and Rowe, JRSS A
 * 1969 (the recursion); Jennison and Turnbull, Interim analyses: the repeated confidence interval approach, JRSS B 1989.
 */
export function nextBound(looks: readonly Look[], information: number): number {
  const before = looks.reduce<Density | null>(step, null);
  const allowed = spentAt(information) - spentAt(looks.at(-1)?.information ?? 0);
  let [low, high] = [0, -LOWEST];
  for (let halving = 0; halving < 40; halving++) {
    const middle = (low + high) / 2;
    if (crossing(before, information, middle) > allowed) low = middle;
    else high = middle;
  }
  return high;
}

/** A look at a difference: its interval, which holds at this look and at all before and after it together. */
interface Interval {
  low: number;
  high: number;
  look: Look;
}

/** Looks at a difference; null where there is nothing new to see. */
export function lookAt({ value, se, degrees }: Lift, looks: readonly Look[]): Interval | null {
  const information = 1 / se ** 2;
  if (se === 0 || !isWorthALook(looks, information)) return null;
  const bound = nextBound(looks, information);
  const margin = studentQuantile(bound, degrees) * se;
  return { low: value - margin, high: value + margin, look: { information, bound } };
}
