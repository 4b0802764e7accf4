import { Temporal } from 'temporal-polyfill';
import { CadenceUnit } from '../entities/enums.js';

export interface CadenceOf {
  unit: CadenceUnit;
  count: number;
}

/** Hour of the day at which orders are made. Source: commerce 7.18. */
const ORDER_HOUR = 9;
/** Hours before an order within which nothing is changed. */
const CUTOFF_HOURS = 24;

const dateOf = (date: string): Temporal.PlainDate => Temporal.PlainDate.from(date);

/** Whether a cadence is within 26 weeks or 12 months. */
export const isCadence = ({ unit, count }: CadenceOf): boolean => count >= 1 && count <= (unit === CadenceUnit.WEEK ? 26 : 12);

/**
 * The civil date after `from`: weeks later, or months later on the anchor's day, the last of a month that is shorter, so that
 * 31 January leads to 28 February and on to 31 March. Source: commerce 7.18.
 */
export function nextDate(from: string, { unit, count }: CadenceOf, anchorDay: number | null): string {
  if (unit === CadenceUnit.WEEK) return dateOf(from).add({ weeks: count }).toString();
  const month = dateOf(from).with({ day: 1 }).add({ months: count });
  const day = anchorDay ?? dateOf(from).day;
  return month.with({ day: Math.min(day, month.daysInMonth) }).toString();
}

/** The first date of a cadence that is after `today`. */
export function nextAfter(from: string, cadence: CadenceOf, anchorDay: number | null, today: string): string {
  let date = from;
  for (let steps = 0; date <= today && steps < 2_000; steps++) date = nextDate(date, cadence, anchorDay);
  return date;
}

/** The instant of a civil date's order: 09:00 there; a local time that is missing moves on to the next that exists. */
export function orderInstant(date: string, timeZone: string): Date {
  const local = dateOf(date).toPlainDateTime({ hour: ORDER_HOUR });
  return new Date(local.toZonedDateTime(timeZone, { disambiguation: 'later' }).epochMilliseconds);
}

/** Until when an order can be changed. */
export const editableUntil = (date: string, timeZone: string): Date =>
  new Date(orderInstant(date, timeZone).getTime() - CUTOFF_HOURS * 3_600_000);

/** The civil date of an instant in a zone. */
export const dateIn = (at: Date, timeZone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timeZone).toPlainDate().toString();

export const addDays = (date: string, days: number): string => dateOf(date).add({ days }).toString();

export const dayOf = (date: string): number => dateOf(date).day;

/** `month:1`; empty: none. How a cadence is kept in a cart's line. */
export const cadenceKey = (cadence: CadenceOf | null | undefined): string => (cadence ? `${cadence.unit}:${cadence.count}` : '');

export function cadenceFrom(key: string): CadenceOf | null {
  const [unit, count] = key.split(':');
  return key === '' ? null : { unit: unit as CadenceUnit, count: Number(count) };
}

export const sameCadence = (a: CadenceOf, b: CadenceOf): boolean => a.unit === b.unit && a.count === b.count;

/** Hours between the attempts of a renewal: at once, then so long after the first. Source: commerce 3. */
export const RETRY_HOURS: readonly number[] = [0, 24, 72, 120];
/** Days that an order waits for stock or for clearance. Source: commerce 7.22, out of stock. */
export const WAIT_DAYS = 7;
