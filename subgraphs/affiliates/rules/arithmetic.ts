/** `amount × part / whole`, half to even; the product has more than 53 bits. Source: conventions 8, affiliates 7.3. @param whole above 0. */
export function ratioOf(amount: number, part: number, whole: number): number {
  const [divisor, product] = [BigInt(whole), BigInt(amount) * BigInt(part)];
  const [quotient, twice] = [product / divisor, (product % divisor) * 2n];
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return Number(isUp ? quotient + 1n : quotient);
}

const WHOLE_BPS = 10_000;

export const shareOf = (amount: number, bps: number): number => ratioOf(amount, bps, WHOLE_BPS);

/** The same day of the month so many months later, its last day where it has no such day; UTC. */
export function monthsAfter(at: Date, months: number): Date {
  const end = new Date(at);
  end.setUTCMonth(end.getUTCMonth() + months);
  if (end.getUTCDate() !== at.getUTCDate()) end.setUTCDate(0);
  return end;
}
