import { EntitlementUsageReset } from '../entities/enums.js';

export interface Period {
  start: Date;
  /** The first instant of the next one; null: it never ends. */
  end: Date | null;
}

/** A period that never ends has a beginning, too, because a counter is found by it. */
const ALWAYS: Period = { start: new Date(0), end: null };

const day = (at: Date, days: number): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + days));
const month = (at: Date, months: number): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months));

/** The period of counting that an instant lies in, UTC. */
export function periodOf(reset: EntitlementUsageReset, at: Date): Period {
  if (reset === EntitlementUsageReset.DAY) return { start: day(at, 0), end: day(at, 1) };
  if (reset === EntitlementUsageReset.CALENDAR_MONTH) return { start: month(at, 0), end: month(at, 1) };
  return ALWAYS;
}
