/** Index of the greatest score; ties go to the first, that is to the caller's order. */
export function bestIndex(scores: readonly number[]): number {
  let best = 0;
  for (let index = 1; index < scores.length; index++) if (scores[index]! > scores[best]!) best = index;
  return best;
}

/** All probability on one index. */
export const pointMass = (size: number, at: number): number[] => Array.from({ length: size }, (_, index) => (index === at ? 1 : 0));

/** ε-greedy: (1−ε)·1[best] + ε/K. Source: Sutton and Barto, Reinforcement Learning, 2.2; intelligence 4.2. */
export const epsilonGreedy = (scores: readonly number[], epsilon: number): number[] =>
  mixed(pointMass(scores.length, bestIndex(scores)), epsilon);

/** (1−ε)·p + ε/K: every candidate keeps at least ε/K, so that what is logged can be evaluated later. */
export const mixed = (probabilities: readonly number[], epsilon: number): number[] =>
  probabilities.map(probability => (1 - epsilon) * probability + epsilon / probabilities.length);
