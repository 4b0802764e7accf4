/** `amount × part / whole`, halves to even, written apart from the services' own. Source: conventions 8. */
export function shareOf(amount: number, part: number, whole: number): number {
  if (whole === 0) return 0;
  const product = BigInt(amount) * BigInt(part);
  const below = product / BigInt(whole);
  const rest = (product - below * BigInt(whole)) * 2n;
  if (rest === BigInt(whole)) return Number(below % 2n === 0n ? below : below + 1n);
  return Number(rest > BigInt(whole) ? below + 1n : below);
}
