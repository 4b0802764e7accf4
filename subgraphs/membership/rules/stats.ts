const BPS = 10_000;

/** A share in hundredths of a percent, half to even; 0 of nothing. */
export function shareBps(part: number, whole: number): number {
  if (whole === 0) return 0;
  const [floor, twice] = [Math.floor((part * BPS) / whole), 2 * ((part * BPS) % whole)];
  const roundsUp = twice > whole || (twice === whole && floor % 2 === 1);
  return roundsUp ? floor + 1 : floor;
}
