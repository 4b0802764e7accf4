import { EntitlementUsageReset } from '../entities/enums.js';

export interface Period {
  start: Date;
  /** The first instant of the next one; null: it never ends. */
  end: Date | null;
}

/** What of a membership is paid for; null: it is not billed, or there is none. */
export interface Billing {
  start: Date;
  end: Date;
}

/** A period that never ends has a beginning, too, because a counter is found by it. */
const ALWAYS: Period = { start: new Date(0), end: null };

const day = (at: Date, days: number): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + days));
const month = (at: Date, months: number): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months));

/** One that has ended and is not renewed is followed by others of its length, the first of which a renewal continues. Source: entitlements 3. */
function billed({ start, end }: Billing, at: Date): Period {
  const length = end.getTime() - start.getTime();
  const passed = at < end ? 0 : Math.floor((at.getTime() - end.getTime()) / length) + 1;
  return { start: new Date(start.getTime() + passed * length), end: new Date(end.getTime() + passed * length) };
}

/** The period of counting that an instant lies in, UTC. */
export function periodOf(reset: EntitlementUsageReset, at: Date, billing: Billing | null): Period {
  if (reset === EntitlementUsageReset.DAY) return { start: day(at, 0), end: day(at, 1) };
  if (reset === EntitlementUsageReset.NEVER) return ALWAYS;
  const isBilled = reset === EntitlementUsageReset.MEMBERSHIP_PERIOD && billing !== null && billing.end > billing.start;
  return isBilled ? billed(billing, at) : { start: month(at, 0), end: month(at, 1) };
}
