import type { Violation } from '../../../runtime/request/errors.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import { CashSource } from '../entities/enums.js';

/** The most that one grant may be, minor units. Source: cash 2. */
export const MOST_UNITS = 10_000_000;
/** The most that staff may give at once. Source: cash 4. */
export const MOST_BY_STAFF = 20_000;

const DEFAULT_DAYS = 365;
const MOST_YEARS = 10;

const { GIFT, REFUND } = CashSource;
const isEndless = (source: CashSource): boolean => source === GIFT || source === REFUND;

/** When a grant ends for which nothing was said: after a year; gifts and refunds never. Source: cash 4. */
export const defaultEnd = (source: CashSource, activatesAt: Date): Date | null =>
  isEndless(source) ? null : after(activatesAt, DEFAULT_DAYS * DAY_MS);

const latestEnd = (activatesAt: Date): Date => {
  const end = new Date(activatesAt);
  end.setUTCFullYear(end.getUTCFullYear() + MOST_YEARS);
  return end;
};

/** What staff may give: what the books count as an expense; gifts and refunds stand against money. Source: accounting 5, cash.granted. */
const BY_STAFF: readonly CashSource[] = [CashSource.PROMOTION, CashSource.BONUS, CashSource.REFERRAL, CashSource.STAFF];

export interface Terms {
  source: CashSource;
  units: number;
  currency: string;
  activatesAt: Date;
  expiresAt: Date | null;
  reason: string | null;
  minSubtotalCurrency: string | null;
}

/** @param byStaff a person gives it, who has to say why. */
export function termViolations(
  { source, units, currency, activatesAt, expiresAt, reason, minSubtotalCurrency }: Terms,
  byStaff: boolean,
): Violation[] {
  const found: Violation[] = [];
  const refuse = (isWrong: boolean, pointer: string, message: string): void =>
    void (isWrong && found.push({ pointer: `/input/${pointer}`, message }));
  const most = byStaff ? MOST_BY_STAFF : MOST_UNITS;
  refuse(units < 1 || units > most, 'amount/amount', `must be from 1 to ${most}`);
  refuse(expiresAt !== null && expiresAt <= activatesAt, 'expiresAt', 'must be after the activation');
  refuse(expiresAt !== null && expiresAt > latestEnd(activatesAt), 'expiresAt', 'must be within 10 years of the activation');
  refuse(
    minSubtotalCurrency !== null && minSubtotalCurrency !== currency,
    'restrictions/minSubtotal/currency',
    'must be that of the amount',
  );
  refuse(byStaff && !BY_STAFF.includes(source), 'source', 'is not given by staff');
  refuse(byStaff && reason === null, 'reason', 'is required of staff');
  return found;
}
