/**
 * Parts of an amount in proportion to weights, minor units: each is its exact share rounded down, and what is left goes by one unit to the
 * largest fractions, the first of equal ones first. So the parts sum to the amount, and none exceeds its weight where the amount does not
 * exceed their sum. Products in BigInt: amount × weight goes past 2^53.
 */
export function allocate(amount: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + BigInt(weight), 0n);
  if (total === 0n) return weights.map(() => 0);
  const products = weights.map(weight => BigInt(amount) * BigInt(weight));
  const parts = products.map(product => Number(product / total));
  const left = amount - parts.reduce((sum, part) => sum + part, 0);
  const byFraction = products
    .map((product, index) => ({ index, fraction: product % total }))
    .toSorted((a, b) => (a.fraction === b.fraction ? a.index - b.index : a.fraction > b.fraction ? -1 : 1));
  for (const { index } of byFraction.slice(0, left)) parts[index]!++;
  return parts;
}
