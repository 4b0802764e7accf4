import { BillingInterval } from '../entities/enums-billing.js';

/** Longest recurrence of each interval. Source: payments 2. */
const MOST: Readonly<Record<BillingInterval, number>> = {
  [BillingInterval.DAY]: 365,
  [BillingInterval.WEEK]: 52,
  [BillingInterval.MONTH]: 24,
  [BillingInterval.YEAR]: 3,
};

/** Minor units. Source: payments 2. */
export const MAX_UNIT_AMOUNT = 99_999_999;

interface Given {
  isVariant: boolean;
  amount: number;
  recurring: { interval: BillingInterval; intervalCount: number } | null;
}

/** What is wrong with a price, as pointers into its input. */
export function priceViolations({ isVariant, amount, recurring }: Given): { pointer: string; message: string }[] {
  const found: { pointer: string; message: string }[] = [];
  if (amount > MAX_UNIT_AMOUNT) found.push({ pointer: '/input/unitAmount/amount', message: `must be at most ${MAX_UNIT_AMOUNT}` });
  if (recurring && recurring.intervalCount > MOST[recurring.interval])
    found.push({ pointer: '/input/recurring/intervalCount', message: `must be at most ${MOST[recurring.interval]} for this interval` });
  if (recurring && isVariant) found.push({ pointer: '/input/recurring', message: 'a product is not charged again and again here' });
  return found;
}
