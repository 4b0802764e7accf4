import { clusteredError, type ClusterSums, type MetricState } from './calibration.js';
import { Z95 } from './quantiles.js';

/** Fewer control outcomes than this: lift is measured by SNIPS of the S1 policy. Source: intelligence 7.1. */
const MIN_CONTROL = 30;
export const LIFT_DECAY_TRIPS = 0.5;
/** Days of the first and of the last cohort. */
export const LIFT_DAYS = 28;
/** A lift that is smaller than this is not divided by. */
const SMALLEST_LIFT = 0.01;

/** A mean reward with its variance. */
export interface Measured {
  value: number;
  variance: number;
  n: number;
}

export const measured = (sums: ClusterSums): Measured => ({ value: sums.sum / sums.n, variance: clusteredError(sums) ** 2, n: sums.n });

/** Sums that give SNIPS of a deterministic policy: over rows in which it agrees with what was served. */
export interface AgreementSums {
  n: number;
  /** Σ w, Σ w·r, Σ w², Σ w²·r, Σ w²·r², with w = 1/p. */
  w: number;
  wr: number;
  ww: number;
  wwr: number;
  wwrr: number;
}

/** Σ w r / Σ w with variance Σ w²(r − v)² / (Σ w)². Source: intelligence 7.2, SNIPS. */
export function agreementValue({ n, w, wr, ww, wwr, wwrr }: AgreementSums): Measured {
  const value = wr / w;
  return { value, variance: (wwrr - 2 * value * wwr + value * value * ww) / (w * w), n };
}

/** L: mean reward of TREATMENT minus that of the control, by its own outcomes or by SNIPS where they are few. */
export function liftOf(treatment: Measured, control: Measured | null, baseline: Measured | null): Measured | null {
  const other = control && control.n >= MIN_CONTROL ? control : baseline;
  if (!other || !Number.isFinite(other.value)) return null;
  return { value: treatment.value - other.value, variance: treatment.variance + other.variance, n: treatment.n };
}

export interface LiftDecay {
  /** (L_ref − L_now)/max(|L_ref|, 0.01): 0 kept, 1 gone. */
  value: number;
  /** Confidence interval of L_ref − L_now. */
  ciLow: number;
  ciHigh: number;
  state: MetricState;
  trips: boolean;
}

/** How much of the first lift is gone. Source: intelligence 7.1, lift_decay. */
export function liftDecay(reference: Measured, now: Measured): LiftDecay {
  const difference = reference.value - now.value;
  const value = difference / Math.max(Math.abs(reference.value), SMALLEST_LIFT);
  const se = Math.sqrt(reference.variance + now.variance);
  const [ciLow, ciHigh] = [difference - Z95 * se, difference + Z95 * se];
  const trips = value > LIFT_DECAY_TRIPS && ciLow > 0;
  const state = trips ? 'unhealthy' : value < LIFT_DECAY_TRIPS ? 'healthy' : 'inconclusive';
  return { value, ciLow, ciHigh, state, trips };
}
