/** Equal-width bins of predictions: [0,.1) … [.9,1]. */
const BINS = 10;
/** Fewer outcomes than this say nothing about calibration, or honesty. Source: intelligence 7.1. */
const CALIBRATION_MIN = 100;
const HONESTY_MIN = 50;
const CALIBRATION_HEALTHY = 0.05;
export const CALIBRATION_TRIPS = 0.1;
export const HONESTY_HEALTHY = 0.05;

/** Sums over the outcomes whose prediction lies in one bin. */
export interface BinSums {
  bin: number;
  n: number;
  predicted: number;
  reward: number;
  /** Σ (p−r)². */
  squared: number;
  /** Σ p² and Σ p·r, for slope and intercept. */
  predictedSquared: number;
  product: number;
}

export const binOf = (prediction: number): number => Math.min(BINS - 1, Math.floor(prediction * BINS + 1e-12));

/** Sums per bin of single rows. */
export function binSums(rows: readonly { predicted: number; reward: number }[]): BinSums[] {
  const sums = Array.from({ length: BINS }, (_, bin) => ({
    bin,
    n: 0,
    predicted: 0,
    reward: 0,
    squared: 0,
    predictedSquared: 0,
    product: 0,
  }));
  for (const { predicted, reward } of rows) {
    const one = sums[binOf(predicted)]!;
    one.n++;
    one.predicted += predicted;
    one.reward += reward;
    one.squared += (predicted - reward) ** 2;
    one.predictedSquared += predicted ** 2;
    one.product += predicted * reward;
  }
  return sums.filter(({ n }) => n > 0);
}

const total = (bins: readonly BinSums[], key: Exclude<keyof BinSums, 'bin'>): number => bins.reduce((sum, one) => sum + one[key], 0);

export interface Calibration {
  n: number;
  /** Expected calibration error: Σ_b n_b/n · |mean reward_b − mean predicted_b|. Source: Naeini et al., AAAI 2015. */
  ece: number;
  /** Mean (p−r)². Source: Brier 1950. */
  brier: number;
  /** Mean reward minus mean prediction; negative: the model promised too much. */
  realizedVsPredicted: number;
  /** Of the least-squares line of rewards over predictions; null where all predictions are one. */
  slope: number | null;
  intercept: number | null;
  bins: { bin: number; n: number; predicted: number; reward: number }[];
}

function lineOf(n: number, bins: readonly BinSums[]): { slope: number | null; intercept: number | null } {
  const [p, r] = [total(bins, 'predicted') / n, total(bins, 'reward') / n];
  const spread = total(bins, 'predictedSquared') / n - p * p;
  if (spread < 1e-12) return { slope: null, intercept: null };
  const slope = (total(bins, 'product') / n - p * r) / spread;
  return { slope, intercept: r - slope * p };
}

/** How honest predictions are, from the sums of their bins. Needs at least one row. */
export function calibrationOf(bins: readonly BinSums[]): Calibration {
  const n = total(bins, 'n');
  return {
    n,
    ece: bins.reduce((sum, { reward, predicted }) => sum + Math.abs(reward - predicted), 0) / n,
    brier: total(bins, 'squared') / n,
    realizedVsPredicted: (total(bins, 'reward') - total(bins, 'predicted')) / n,
    ...lineOf(n, bins),
    bins: bins.map(({ bin, n: count, predicted, reward }) => ({ bin, n: count, predicted: predicted / count, reward: reward / count })),
  };
}

/** Sums over clusters (entities) that give the standard error of a mean: of the residuals, their squares and the sizes. */
export interface ClusterSums {
  /** Clusters. */
  groups: number;
  /** Σ_g n_g and Σ_g s_g. */
  n: number;
  sum: number;
  /** Σ s_g², Σ s_g·n_g, Σ n_g². */
  sumSquared: number;
  sumTimesSize: number;
  sizeSquared: number;
}

/** Standard error of a mean, clustered: sqrt(G/(G−1) · Σ_g (s_g − n_g·m)²)/n. Source: Liang and Zeger 1986. NaN below two clusters. */
export function clusteredError({ groups, n, sum, sumSquared, sumTimesSize, sizeSquared }: ClusterSums): number {
  if (groups < 2) return Number.NaN;
  const m = sum / n;
  const spread = sumSquared - 2 * m * sumTimesSize + m * m * sizeSquared;
  return Math.sqrt((groups / (groups - 1)) * Math.max(0, spread)) / n;
}

export type MetricState = 'healthy' | 'unhealthy' | 'inconclusive';

export const honestyState = (value: number, n: number): MetricState =>
  n < HONESTY_MIN ? 'inconclusive' : Math.abs(value) <= HONESTY_HEALTHY ? 'healthy' : 'unhealthy';

/** The interval lies wholly outside ±0.05. */
export const honestyTrips = (n: number, ciLow: number, ciHigh: number): boolean =>
  n >= HONESTY_MIN && (ciLow > HONESTY_HEALTHY || ciHigh < -HONESTY_HEALTHY);

export const calibrationState = (ece: number, n: number): MetricState =>
  n < CALIBRATION_MIN ? 'inconclusive' : ece <= CALIBRATION_HEALTHY ? 'healthy' : 'unhealthy';

/** Standard deviations above what chance shows: a loop that is looked at every hour of a year looks often. */
const NOISE_SD = 4;

/**
 * The greatest ECE that honest predictions are likely to show by chance: it does not fall to 0 but with √n, so that at a hundred outcomes in
 * ten bins it is above any threshold. Mean and spread of Σ n_b/n·|error_b| with normal errors of variance p(1−p)/n_b. Source: Bröcker and
 * Smith, Increasing the Reliability of Reliability Diagrams, 2007; folded normal distribution.
 */
export function honestEce(bins: readonly Pick<BinSums, 'n' | 'predicted'>[]): number {
  const all = bins.reduce((sum, { n }) => sum + n, 0);
  const spreads = bins.map(({ n, predicted }) => (n / all) * Math.sqrt(((predicted / n) * (1 - predicted / n)) / n));
  const mean = Math.sqrt(2 / Math.PI) * spreads.reduce((sum, one) => sum + one, 0);
  return mean + NOISE_SD * Math.sqrt((1 - 2 / Math.PI) * spreads.reduce((sum, one) => sum + one * one, 0));
}

/** Above 0.10, and above what honest predictions would show at this n. Source: intelligence 7.1; 7.4, false alarms. */
export const calibrationTrips = (ece: number, n: number, noise = 0): boolean =>
  n >= CALIBRATION_MIN && ece > Math.max(CALIBRATION_TRIPS, noise);
