import { PromoDuration, PromoKind } from '../entities/enums-offers.js';
import { shareOf } from './proration.js';

/** What a code takes off the periods of a subscription. */
export interface RecurringPromo {
  kind: PromoKind;
  duration: PromoDuration;
  durationPeriods: number | null;
  percentBps: number | null;
  /** Minor units of the price's currency. */
  amountOff: number | null;
}

/** Periods that a code reduces; null: all of them. A change of price or cadence neither ends the code nor begins it anew. */
export function reducedPeriods({ duration, durationPeriods }: Pick<RecurringPromo, 'duration' | 'durationPeriods'>): number | null {
  if (duration === PromoDuration.FOREVER) return null;
  return duration === PromoDuration.ONCE ? 1 : (durationPeriods ?? 1);
}

/** Whether one more period is reduced. @param left periods that still are; null: all. */
export const isReduced = (left: number | null): boolean => left === null || left > 0;

/** Periods left after one more. */
export const afterOne = (left: number | null): number | null => (left === null ? null : Math.max(0, left - 1));

/** What a promo takes off an amount: at most all of it. */
export function discountOf({ kind, percentBps, amountOff }: RecurringPromo, amount: bigint): number {
  if (kind === PromoKind.PERCENT) return shareOf(amount, percentBps ?? 0, 10_000);
  if (kind === PromoKind.AMOUNT) return Number(amount < BigInt(amountOff ?? 0) ? amount : BigInt(amountOff ?? 0));
  return 0;
}
