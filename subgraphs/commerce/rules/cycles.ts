import { createHash } from 'node:crypto';
import { HOUR_MS } from '../../../runtime/time/durations.js';
import { nextDate, RETRY_HOURS, type CadenceOf } from './cadence.js';
import { shareOf } from './money.js';

/** A line's price in one order: its locked price less its discount, minor units. */
export const unitPriceOf = ({ unitPrice, discountBps }: { unitPrice: number; discountBps: number }): number =>
  unitPrice - shareOf(unitPrice, discountBps);

/** Price before discount of an order on a date: the announced one from its day on. Source: commerce 7.20. */
export const lockedPriceOn = (
  { unitPrice, pendingAmount, pendingFrom }: { unitPrice: number; pendingAmount: number | null; pendingFrom: string | null },
  date: string,
): number => (pendingAmount !== null && pendingFrom !== null && pendingFrom <= date ? pendingAmount : unitPrice);

/** The id of a cycle, whether or not it has a row yet: a UUID of version 8 over subscription and index. */
export function cycleId(subscriptionId: string, cycleIndex: number): string {
  const bytes = createHash('sha256').update(`${subscriptionId}:${cycleIndex}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A cycle and its date. */
export interface CycleOf {
  cycleIndex: number;
  orderOn: string;
}

interface Rhythm {
  cadence: CadenceOf;
  anchorDay: number | null;
}

/** The cycle after one. */
export const cycleAfter = ({ cycleIndex, orderOn }: CycleOf, { cadence, anchorDay }: Rhythm): CycleOf => ({
  cycleIndex: cycleIndex + 1,
  orderOn: nextDate(orderOn, cadence, anchorDay),
});

/** Cycles from one on; where one was decided on already, its date is the one that counts. */
export function cyclesFrom<Known extends CycleOf>(
  first: CycleOf,
  rhythm: Rhythm,
  known: ReadonlyMap<number, Known>,
  many: number,
): (CycleOf | Known)[] {
  const found: (CycleOf | Known)[] = [];
  for (let cycle = first; found.length < many; cycle = cycleAfter(found.at(-1)!, rhythm)) found.push(known.get(cycle.cycleIndex) ?? cycle);
  return found;
}

/** When a renewal that was declined for the n-th time is tried again; null: that was the last time. Hours count from the first attempt. */
export function retryAt(declined: number, now: Date): Date | null {
  const next = RETRY_HOURS[declined];
  return next === undefined ? null : new Date(now.getTime() + (next - RETRY_HOURS[declined - 1]!) * HOUR_MS);
}
