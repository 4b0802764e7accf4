import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Uniform numbers in [0,1). */
export type Uniform = () => number;

/** Uniform numbers with 53 random bits from a seeded generator (xoroshiro128+): the same on every platform. */
export function uniformsOf(seed: number): Uniform {
  const generator = xoroshiro128plus(seed | 0);
  return () => uniformFloat64(generator);
}

/** First 32 bits of a hexadecimal seed as a signed integer. */
export const seedNumber = (seed: string): number => Number.parseInt(seed.slice(0, 8), 16) | 0;

/**
 * The index that `u` in [0,1) falls on in a distribution: each is drawn with exactly its probability. Sums run in the given order,
 * so that every instance answers the same.
 */
export function drawIndex(probabilities: readonly number[], u: number): number {
  let sum = 0;
  let last = 0;
  for (let index = 0; index < probabilities.length; index++) {
    if (probabilities[index]! <= 0) continue;
    sum += probabilities[index]!;
    last = index;
    if (u < sum) return index;
  }
  return last; // rounding left the sum a little below 1
}
