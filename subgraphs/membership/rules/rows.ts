import type { Membership } from '../entities/membership.js';
import { closedTenureMs, type Folded, type Timeline } from './timeline.js';

/** The columns of a membership that follow from its facts. */
export type Columns = Omit<
  Membership,
  'id' | 'userId' | 'brandId' | 'announcedTierId' | 'dueAt' | 'createdAt' | 'version' | 'suspensionReasons' | 'lapseReason'
> &
  Pick<Membership, 'suspensionReasons' | 'lapseReason'>;

export function columnsOf(one: Folded, index: number, { segments }: Timeline): Columns {
  const { periodStart, periodEnd, reasons, compEndsAt: _compEndsAt, mayBeWonBack: _mayBeWonBack, ...same } = one;
  return {
    ...same,
    suspensionReasons: reasons,
    currentPeriodStart: periodStart,
    currentPeriodEnd: periodEnd,
    tenureMs: closedTenureMs(segments, index),
  };
}

export interface Pair {
  /** Undefined: it is new. */
  row: Membership | undefined;
  one: Folded;
}

/**
 * Stored rows with what the facts come to, by what began them; a late fact can give a membership another beginning, so the rest goes by
 * its order. `left`: rows that the facts no longer tell apart from another.
 */
export function paired(rows: readonly Membership[], memberships: readonly Folded[]): { pairs: Pair[]; left: Membership[] } {
  const free = rows.filter(row => !memberships.some(one => one.origin === row.origin));
  const pairs = memberships.map(one => ({ one, row: rows.find(row => row.origin === one.origin) ?? free.shift() }));
  return { pairs, left: free };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Whether a row says something else than its facts. */
export const differs = (row: Membership, columns: object): boolean =>
  Object.entries(columns).some(([name, value]) => !isSame(row[name as keyof Membership], value));
