/**
 * Rounds to a number of decimals, a half to the even neighbour. Works on the shortest decimal form of the number (15 digits), so that
 * 0.125 - 0.25 is the half that it looks like.
 */
export function roundHalfEven(value: number, decimals: number): number {
  const scaled = Number((value * 10 ** decimals).toPrecision(15));
  const floor = Math.floor(scaled);
  const rest = scaled - floor;
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0);
  const rounded = Number(`${up ? floor + 1 : floor}e-${decimals}`);
  return rounded === 0 ? 0 : rounded; // never -0
}
