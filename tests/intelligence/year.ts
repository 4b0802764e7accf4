import {
  calibrationOf,
  calibrationTrips,
  clusteredError,
  honestEce,
  honestyTrips,
  type BinSums,
  type ClusterSums,
} from '../../subgraphs/intelligence/rules/calibration.js';
import { LIFT_DAYS, liftDecay, liftOf, measured, type Measured } from '../../subgraphs/intelligence/rules/lift.js';
import { JOIN_FLOOR } from '../../subgraphs/intelligence/rules/liveness.js';
import { Z95 } from '../../subgraphs/intelligence/rules/quantiles.js';
import { uniformsOf } from '../../subgraphs/intelligence/rules/sampling.js';

/** A loop that decides at a steady rate; what becomes of its decisions, by the day of their deadline. */
export interface World {
  perDay: number;
  controlShare: number;
  /** Probability that an outcome joins, given it. */
  joins: (reward: number) => number;
  /** Mean reward of the control. */
  base: number;
  /** What serving by the model adds to it, by day. */
  lift: (day: number) => number;
  /** What the model promises above what is so, by day; its predictions lie 0.3 around their mean. */
  promises: (day: number) => number;
}

export const HONEST: World = { perDay: 20, controlShare: 0.05, joins: () => 0.9, base: 0.3, lift: () => 0.2, promises: () => 0 };

const HOURS = 24;
const WINDOW = LIFT_DAYS * HOURS;
/** A reviewer rejects a proposal within a day; then it is not raised for a week. Source: intelligence 3. */
const QUIET_HOURS = 8 * HOURS;

/** Sums over decisions of single entities, which is what clusters come to then. */
class Sums {
  n = 0;
  sum = 0;
  squared = 0;

  add(value: number, sign = 1): void {
    this.n += sign;
    this.sum += sign * value;
    this.squared += sign * value * value;
  }

  get clusters(): ClusterSums {
    const { n, sum, squared } = this;
    return { groups: n, n, sum, sumSquared: squared, sumTimesSize: sum, sizeSquared: n };
  }
}

/** A closed decision. */
interface Closed {
  control: boolean;
  predicted: number;
  /** Null: its outcome never joined. */
  reward: number | null;
}

/** What the last 28 days come to, hour by hour. */
class Window {
  joined = 0;
  closed = 0;
  readonly residual = new Sums();
  readonly treatment = new Sums();
  readonly control = new Sums();
  readonly bins: BinSums[] = Array.from({ length: 10 }, (_, bin) => ({
    bin,
    n: 0,
    predicted: 0,
    reward: 0,
    squared: 0,
    predictedSquared: 0,
    product: 0,
  }));

  count({ control, predicted, reward }: Closed, sign: 1 | -1): void {
    this.closed += sign;
    if (reward === null) return;
    this.joined += sign;
    (control ? this.control : this.treatment).add(reward, sign);
    if (control) return; // the rules promise nothing
    this.residual.add(reward - predicted, sign);
    const bin = this.bins[Math.min(9, Math.floor(predicted * 10))]!;
    bin.n += sign;
    bin.predicted += sign * predicted;
    bin.reward += sign * reward;
  }

  get lift(): Measured | null {
    if (this.treatment.n < 2 || this.control.n < 2) return null;
    return liftOf(measured(this.treatment.clusters), measured(this.control.clusters), null);
  }

  /** What trips now, by the rules of the service. */
  trips(reference: Measured | null): string[] {
    const found: string[] = this.joined / this.closed < JOIN_FLOOR ? ['join_completeness'] : [];
    const bins = this.bins.filter(({ n }) => n > 0);
    if (bins.length === 0) return found;
    const { n, ece, realizedVsPredicted: value } = calibrationOf(bins);
    const half = Z95 * clusteredError(this.residual.clusters);
    if (honestyTrips(n, value - half, value + half)) found.push('realized_vs_predicted');
    if (calibrationTrips(ece, n, honestEce(bins))) found.push('calibration');
    const { lift } = this;
    if (reference && lift && liftDecay(reference, lift).trips) found.push('lift_decay');
    return found;
  }
}

export interface Raised {
  metric: string;
  /** Days since the reference of the lift was complete. */
  day: number;
}

/** Hourly ticks over `days` after a first window of 28 days; answers the proposals that are raised. */
export function simulate(world: World, seed: number, days: number): Raised[] {
  const next = uniformsOf(seed * 7919 + 101);
  const window = new Window();
  const hours: Closed[][] = [];
  const quiet = new Map<string, number>();
  const raised: Raised[] = [];
  let reference: Measured | null = null;
  for (let hour = 0; hour < WINDOW + days * HOURS; hour++) {
    const day = (hour - WINDOW) / HOURS;
    hours.push(closedIn(world, day, next));
    for (const one of hours[hour]!) window.count(one, 1);
    if (hour < WINDOW) continue;
    for (const one of hours[hour - WINDOW]!) window.count(one, -1);
    reference ??= window.lift;
    const comparable = day >= LIFT_DAYS ? reference : null; // the two windows do not overlap
    for (const metric of window.trips(comparable).filter(name => (quiet.get(name) ?? 0) <= hour)) {
      quiet.set(metric, hour + QUIET_HOURS);
      raised.push({ metric, day });
    }
  }
  return raised;
}

/** Decisions of an hour: as many as a rate allows, each by itself. */
function closedIn({ perDay, controlShare, joins, base, lift, promises }: World, day: number, next: () => number): Closed[] {
  const rate = perDay / HOURS;
  const count = Math.floor(rate) + Number(next() < rate % 1);
  return Array.from({ length: count }, () => {
    const control = next() < controlShare;
    const mean = control ? base : base + lift(day);
    const truth = mean + (next() - 0.5) * 0.3;
    const reward = Number(next() < truth);
    const predicted = Math.min(1, Math.max(0, truth + promises(day)));
    return { control, predicted, reward: next() < joins(reward) ? reward : null };
  });
}
