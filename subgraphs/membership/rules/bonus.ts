import type { Violation } from '../../../runtime/request/errors.js';
import { BonusTrigger } from '../entities/enums.js';

interface Wanted {
  trigger: BonusTrigger;
  threshold?: number | null;
  cashAmount: { amount: number };
}

/** Most that one bonus may be, minor units. */
const MOST = 100_000_000;

/** What of a bonus rule does not go together. */
export function bonusViolations({ trigger, threshold, cashAmount }: Wanted): Violation[] {
  const counts = trigger === BonusTrigger.TENURE_DAYS;
  return [
    ...(counts && threshold == null ? [{ pointer: '/input/threshold', message: 'is required for tenure days' }] : []),
    ...(!counts && threshold != null ? [{ pointer: '/input/threshold', message: 'is for tenure days' }] : []),
    ...(cashAmount.amount < 1 || cashAmount.amount > MOST
      ? [{ pointer: '/input/cashAmount/amount', message: `must be between 1 and ${MOST}` }]
      : []),
  ];
}
