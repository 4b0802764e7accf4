import { Temporal } from 'temporal-polyfill';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { BillingInterval } from '../entities/enums-billing.js';

/** How often a price is billed. */
export interface Recurrence {
  interval: BillingInterval;
  intervalCount: number;
}

/** What all boundaries of a subscription are counted from. `day` is the day of the month that a shorter month clamps; null: that of `at`. */
export interface Anchor {
  at: Date;
  day: number | null;
}

export interface Period {
  start: Date;
  end: Date;
}

const DAYS: Partial<Record<BillingInterval, number>> = { [BillingInterval.DAY]: 1, [BillingInterval.WEEK]: 7 };
const MONTHS: Partial<Record<BillingInterval, number>> = { [BillingInterval.MONTH]: 1, [BillingInterval.YEAR]: 12 };

/** Seconds that an interval has in the mean of 400 years; tells the dearer of two prices with other cadences. */
const MEAN_SECONDS: Record<BillingInterval, number> = {
  [BillingInterval.DAY]: 86_400,
  [BillingInterval.WEEK]: 604_800,
  [BillingInterval.MONTH]: 2_629_746,
  [BillingInterval.YEAR]: 31_556_952,
};

export const meanSeconds = ({ interval, intervalCount }: Recurrence): number => MEAN_SECONDS[interval] * intervalCount;

const utc = (at: Date): Temporal.ZonedDateTime => Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO('UTC');

function monthsAfter({ at, day }: Anchor, months: number): Date {
  const from = utc(at);
  const month = from.toPlainDate().toPlainYearMonth().add({ months });
  const date = month.toPlainDate({ day: Math.min(day ?? from.day, month.daysInMonth) });
  return new Date(date.toZonedDateTime({ timeZone: 'UTC', plainTime: from.toPlainTime() }).epochMilliseconds);
}

/** Anchor + n intervals, the day clamped to the month's last, all in UTC: Jan 31, Feb 28, Mar 31. Source: payments 7.7. */
export function boundary(anchor: Anchor, { interval, intervalCount }: Recurrence, n: number): Date {
  const days = DAYS[interval];
  if (days !== undefined) return new Date(anchor.at.getTime() + n * intervalCount * days * DAY_MS);
  return monthsAfter(anchor, n * intervalCount * MONTHS[interval]!);
}

/** The number of the first boundary that is later than `at`. */
function firstAfter(anchor: Anchor, recurrence: Recurrence, at: Date): number {
  const away = (at.getTime() - anchor.at.getTime()) / (meanSeconds(recurrence) * 1000);
  let n = Math.floor(away) - 1; // an interval differs from the mean by less than itself
  while (boundary(anchor, recurrence, n) <= at) n++;
  return n;
}

/** The first boundary later than `at`: the end of the period that begins there. */
export const nextBoundary = (anchor: Anchor, recurrence: Recurrence, at: Date): Date =>
  boundary(anchor, recurrence, firstAfter(anchor, recurrence, at));

/** The whole interval that ends at the first boundary after `at`, however late in it `at` lies. */
export function intervalAround(anchor: Anchor, recurrence: Recurrence, at: Date): Period {
  const n = firstAfter(anchor, recurrence, at);
  return { start: boundary(anchor, recurrence, n - 1), end: boundary(anchor, recurrence, n) };
}

/** The period that begins at `start`. */
export const periodFrom = (anchor: Anchor, recurrence: Recurrence, start: Date): Period => ({
  start,
  end: nextBoundary(anchor, recurrence, start),
});

/** The same days of the month with `at` as the new beginning: a changed cadence counts from the end of the old one. */
export const reanchored = (anchor: Anchor, at: Date): Anchor => ({ at, day: anchor.day ?? utc(anchor.at).day });

/** A new beginning on its own day. */
export const anchoredAt = (at: Date): Required<Anchor> & { day: number } => ({ at, day: utc(at).day });

const epochSecond = (at: Date): number => Math.floor(at.getTime() / 1000);

/** Whole seconds between two instants, never below 0. What is used and what remains of a period add up to its length. */
export const secondsBetween = (from: Date, to: Date): number => Math.max(0, epochSecond(to) - epochSecond(from));
