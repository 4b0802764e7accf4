/** Lanczos coefficients, g = 7, n = 9. Source: Press et al., Numerical Recipes, 6.1. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** ln Γ(x) for x > 0, to some 1e-15 relative. */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const t = x + 6.5;
  let sum = LANCZOS[0]!;
  for (let index = 1; index < LANCZOS.length; index++) sum += LANCZOS[index]! / (x - 1 + index);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** A Beta distribution with what its density and distribution function share worked out once. */
export interface Beta {
  alpha: number;
  beta: number;
  /** ln B(α,β). */
  logB: number;
  mean: number;
  sd: number;
}

export function betaOf(alpha: number, beta: number): Beta {
  const sum = alpha + beta;
  const logB = logGamma(alpha) + logGamma(beta) - logGamma(sum);
  return { alpha, beta, logB, mean: alpha / sum, sd: Math.sqrt((alpha * beta) / (sum * sum * (sum + 1))) };
}

/** Density at x in (0,1). */
export const betaPdf = ({ alpha, beta, logB }: Beta, x: number): number =>
  Math.exp((alpha - 1) * Math.log(x) + (beta - 1) * Math.log1p(-x) - logB);

const TINY = 1e-300;
const PRECISION = 1e-14;
const MAX_TERMS = 500;

const awayFromZero = (value: number): number => (Math.abs(value) < TINY ? TINY : value);

/** The continued fraction of the incomplete beta function by Lentz's method. Source: DLMF 8.17.22. */
function continuedFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= MAX_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < PRECISION) break;
  }
  return value;
}

/** P(X ≤ x): the regularised incomplete beta function I_x(α,β). Source: DLMF 8.17. */
export function betaCdf({ alpha, beta, logB }: Beta, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const factor = Math.exp(alpha * Math.log(x) + beta * Math.log1p(-x) - logB);
  if (x < (alpha + 1) / (alpha + beta + 2)) return (factor * continuedFraction(alpha, beta, x)) / alpha;
  return 1 - (factor * continuedFraction(beta, alpha, 1 - x)) / beta;
}
