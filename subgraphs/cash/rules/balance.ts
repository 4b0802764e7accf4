import type { Lot } from './lots.js';
import { isUsable, sumOf } from './lots.js';

/** A live reservation's part of one lot, minor units. */
export interface HeldPart {
  grantId: string;
  units: number;
  /** The first instant at which the reservation holds no more. */
  expiresAt: Date;
}

export interface Figures {
  available: number;
  reserved: number;
  expiringNext: { amount: number; at: Date } | null;
}

/** What can be spent of each lot at an instant: what a reservation that has ended held of it is back. */
export function usableParts<L extends Lot>(lots: readonly L[], held: readonly HeldPart[], at: Date): { lot: L; amount: number }[] {
  const back = held.filter(({ expiresAt }) => expiresAt <= at);
  const ofLot = (id: string): number =>
    sumOf(
      back.filter(({ grantId }) => grantId === id),
      ({ units }) => units,
    );
  return lots.filter(lot => isUsable(lot, at)).map(lot => ({ lot, amount: lot.left + ofLot(lot.id) }));
}

/** Amounts by the instant at which they end, soonest first; what never ends is left out. */
export function byEnd(parts: readonly { lot: Pick<Lot, 'expiresAt'>; amount: number }[]): { amount: number; at: Date }[] {
  const sums = new Map<number, number>();
  for (const { lot, amount } of parts)
    if (lot.expiresAt && amount > 0) sums.set(lot.expiresAt.getTime(), (sums.get(lot.expiresAt.getTime()) ?? 0) + amount);
  return [...sums].sort(([a], [b]) => a - b).map(([time, amount]) => ({ amount, at: new Date(time) }));
}

/** A balance at the instant of reading: no sweep has to come by first. Source: cash 7.2. */
export function figuresAt(lots: readonly Lot[], held: readonly HeldPart[], at: Date): Figures {
  const parts = usableParts(lots, held, at);
  const live = held.filter(({ expiresAt }) => expiresAt > at);
  return {
    available: sumOf(parts, ({ amount }) => amount),
    reserved: sumOf(live, ({ units }) => units),
    expiringNext: byEnd(parts)[0] ?? null,
  };
}
