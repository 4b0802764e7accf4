import { memoText } from '../../../runtime/lazy.js';

const MILLION = 1_000_000n;

/** Quotient of two integers, half to even. The divisor is positive. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const [quotient, rest] = [dividend / divisor, dividend % divisor];
  const twice = (rest < 0n ? -rest : rest) * 2n;
  if (twice < divisor || (twice === divisor && quotient % 2n === 0n)) return quotient;
  return rest < 0n ? quotient - 1n : quotient + 1n;
}

/** A share of an amount, basis points, half to even. Minor units. Source: commerce 7.1, 7.2. */
export const shareOf = (amount: number, bps: number): number => Number(divideHalfEven(BigInt(amount) * BigInt(bps), 10_000n));

/** Tax on a net amount. Source: commerce 7.4. */
export const exclusiveTax = (taxable: number, ppm: number): number => Number(divideHalfEven(BigInt(taxable) * BigInt(ppm), MILLION));

/** Tax that a gross amount holds. Source: commerce 7.4. */
export const inclusiveTax = (gross: number, ppm: number): number =>
  gross - Number(divideHalfEven(BigInt(gross) * MILLION, MILLION + BigInt(ppm)));

/**
 * Parts of an amount in proportion to weights: largest remainder, ties to the earlier one; they sum to the amount. Without any weight
 * the first takes all. Source: commerce 7.3.
 */
export function allocate(amount: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((total, one) => total + BigInt(one), 0n);
  if (sum === 0n) return weights.map((_, index) => (index === 0 ? amount : 0));
  const exact = weights.map(weight => BigInt(amount) * BigInt(weight));
  const parts = exact.map(one => one / sum);
  let left = Number(BigInt(amount) - parts.reduce((total, one) => total + one, 0n));
  const order = exact
    .map((one, index) => ({ rest: one % sum, index }))
    .sort((a, b) => (b.rest > a.rest ? 1 : b.rest < a.rest ? -1 : a.index - b.index));
  for (const { index } of order) if (left-- > 0) parts[index]! += 1n;
  return parts.map(Number);
}

/** What the units `from` to `from + count` of a line are of its total, so that all units sum to it. Source: commerce 7.3. */
export function unitsOf(total: number, quantity: number, from: number, count: number): number {
  const parts = allocate(total, Array<number>(quantity).fill(1));
  return parts.slice(from, from + count).reduce((sum, one) => sum + one, 0);
}

/** Digits after the point of a currency's amounts, by ISO 4217: JPY 0, USD 2, KWD 3. */
const exponentOf = memoText(
  (currency: string): number => new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2,
);

/** A decimal text as minor units; NaN where it is none, or finer than the currency. No floats on the way. Source: commerce 7.1. */
export function minorUnits(text: string, currency: string): number {
  const exponent = exponentOf(currency);
  const [, whole, part = ''] = /^(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || /[1-9]/.test(part.slice(exponent))) return Number.NaN;
  return Number(whole + part.slice(0, exponent).padEnd(exponent, '0'));
}
