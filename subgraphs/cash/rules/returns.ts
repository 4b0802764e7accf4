import { after, DAY_MS } from '../../../runtime/time/durations.js';
import type { Take } from './lots.js';

/** What comes back can be used for at least so long. */
const LEAST_MS = 30 * DAY_MS;

/** A part of a spend, minor units. */
export interface SpentLot {
  id: string;
  units: number;
  givenBack: number;
  position: number;
  /** Of the grant from which it was taken. */
  expiresAt: Date | null;
}

const endOf = ({ expiresAt }: SpentLot): number => expiresAt?.getTime() ?? Infinity;
const latestEndFirst = (a: SpentLot, b: SpentLot): number =>
  endOf(a) === endOf(b) ? b.position - a.position : endOf(b) > endOf(a) ? 1 : -1;

/** Which lots come back for at most `wanted`: those that end last first, what was spent last first among them. Source: cash 5. */
export function lotsToReturn<L extends SpentLot>(lots: readonly L[], wanted: number): Take<L>[] {
  const takes: Take<L>[] = [];
  let open = wanted;
  for (const lot of lots.toSorted(latestEndFirst)) {
    const amount = Math.min(lot.units - lot.givenBack, open);
    if (amount > 0) takes.push({ lot, amount });
    open -= amount;
  }
  return takes;
}

/** End of what comes back: the original one, at least 30 days ahead. Source: cash 3. */
export const returnedEnd = (original: Date | null, now: Date): Date | null =>
  original && new Date(Math.max(original.getTime(), after(now, LEAST_MS).getTime()));
