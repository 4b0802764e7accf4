import { betaCdf, betaOf, betaPdf, type Beta } from './beta.js';

/** Nodes and weights of the four-point Gauss-Legendre rule on [-1,1]. Source: DLMF 3.5. */
const NODES = [-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526];
const WEIGHTS = [0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538];

/** Where a posterior bends, in standard deviations around its mean. */
const BENDS = [-8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8];
/** Cells are not narrower than this part of the narrowest posterior's standard deviation. */
const FINEST = 0.5;
/** Halvings of the way to 0 and 1, for densities that have no bound there. */
const HALVINGS = 40;

/** Sorted ends of the cells over [0,1] on which every density is smooth. */
function cellEnds(posteriors: readonly Beta[]): number[] {
  const finest = FINEST * Math.min(...posteriors.map(({ sd }) => sd));
  const bends = posteriors.flatMap(({ mean, sd }) => BENDS.map(bend => mean + bend * sd));
  const unbounded = posteriors.some(({ alpha, beta }) => alpha < 1 || beta < 1);
  const edges = unbounded ? Array.from({ length: HALVINGS }, (_, index) => 2 ** -(index + 2)).flatMap(step => [step, 1 - step]) : [];
  const inner = [...bends].filter(x => x > 0 && x < 1).sort((a, b) => a - b);
  const kept = inner.filter((x, index) => index === 0 || x - inner[index - 1]! > 1e-12);
  const thinned: number[] = [];
  for (const x of kept) if (thinned.length === 0 || x - thinned.at(-1)! >= finest) thinned.push(x);
  return [...new Set([0, ...thinned, ...edges, 1])].sort((a, b) => a - b);
}

/** Adds a node's share to every posterior: f_a(x) ∏_{j≠a} F_j(x). */
function addNode(posteriors: readonly Beta[], x: number, weight: number, sums: number[]): void {
  const below = posteriors.map(posterior => betaCdf(posterior, x));
  const before: number[] = [];
  let product = 1;
  for (const one of below) {
    before.push(product);
    product *= one;
  }
  let after = 1;
  for (let index = posteriors.length - 1; index >= 0; index--) {
    const others = before[index]! * after;
    if (others > 0) sums[index]! += weight * others * betaPdf(posteriors[index]!, x);
    after *= below[index]!;
  }
}

/**
 * The probability of each Beta posterior to give the greatest draw: ∫ f_a ∏_{j≠a} F_j, by Gauss-Legendre quadrature on cells between
 * the bends of the posteriors, brought to the sum 1. Error ≤ 1e-3. Source: Russo et al., A Tutorial on Thompson Sampling, 3; intelligence 4.2.
 */
export function winProbabilities(parameters: readonly { alpha: number; beta: number }[]): number[] {
  if (parameters.length === 1) return [1];
  const posteriors = parameters.map(({ alpha, beta }) => betaOf(alpha, beta));
  const sums = posteriors.map(() => 0);
  const ends = cellEnds(posteriors);
  for (let cell = 1; cell < ends.length; cell++) {
    const half = (ends[cell]! - ends[cell - 1]!) / 2;
    const middle = ends[cell - 1]! + half;
    NODES.forEach((node, index) => addNode(posteriors, middle + half * node, half * WEIGHTS[index]!, sums));
  }
  const total = sums.reduce((sum, one) => sum + one, 0);
  return sums.map(one => one / total);
}
