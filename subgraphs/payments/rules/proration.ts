import { meanSeconds, secondsBetween, type Period, type Recurrence } from './periods.js';
import { roundHalfEven } from './rounding.js';

/** `amount × part / whole` in minor units, half to even once. `amount × quantity × seconds` passes 2^53, so in BigInt. */
export const shareOf = (amount: bigint, part: number, whole: number): number => roundHalfEven(amount * BigInt(part), BigInt(whole));

/** Minor units of `quantity` units. */
export const times = (unitAmount: number, quantity: number): bigint => BigInt(unitAmount) * BigInt(quantity);

/** What is left of a period: its seconds from `at` on, and all of them. */
export interface Rest {
  remaining: number;
  length: number;
}

export const restOf = ({ start, end }: Period, at: Date): Rest => ({
  remaining: Math.min(secondsBetween(at, end), secondsBetween(start, end)),
  length: secondsBetween(start, end),
});

export interface Proration {
  /** For what is not used of the old price, minor units, not negative. */
  credit: number;
  /** For the rest of the period at the new price. */
  charge: number;
}

/** To the second: `old × remaining / length` back, `new × remaining / length` to pay. Source: payments 7.9. */
export function prorate(old: bigint, fresh: bigint, { remaining, length }: Rest): Proration {
  if (length === 0) return { credit: 0, charge: 0 };
  return { credit: shareOf(old, remaining, length), charge: shareOf(fresh, remaining, length) };
}

/** A price as it is subscribed to. */
export interface Subscribed extends Recurrence {
  unitAmount: number;
  quantity: number;
}

/** Dearer, cheaper or equal by the second, whatever the cadences. */
export function compareRates(one: Subscribed, other: Subscribed): number {
  const left = times(one.unitAmount, one.quantity) * BigInt(meanSeconds(other));
  const right = times(other.unitAmount, other.quantity) * BigInt(meanSeconds(one));
  return left > right ? 1 : left < right ? -1 : 0;
}

/** The later of a change is an upgrade where it costs more by the second. */
export const directionOf = (from: Subscribed, to: Subscribed): 'upgrade' | 'downgrade' =>
  compareRates(to, from) > 0 ? 'upgrade' : 'downgrade';
