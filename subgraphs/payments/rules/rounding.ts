/** `numerator / denominator`, rounded half to even. @throws RangeError where the quotient is no safe integer. */
export function roundHalfEven(numerator: bigint, denominator: bigint): number {
  const negative = numerator < 0n !== denominator < 0n;
  const [over, under] = [numerator < 0n ? -numerator : numerator, denominator < 0n ? -denominator : denominator];
  const [quotient, twice] = [over / under, (over % under) * 2n];
  const up = twice > under || (twice === under && quotient % 2n === 1n);
  const rounded = Number(up ? quotient + 1n : quotient);
  if (!Number.isSafeInteger(rounded)) throw new RangeError('an amount is past 2^53');
  return negative ? -rounded : rounded;
}
