import { RRuleTemporal } from 'rrule-temporal';
import { Temporal } from 'temporal-polyfill';
import { invalid } from '../../../runtime/request/errors.js';

const MAX_OCCURRENCES = 26;
/** Dates only: the time of day is that of the first session, by the wall clock of its zone. */
const DATES_ONLY =
  /^(FREQ=(DAILY|WEEKLY|MONTHLY)|INTERVAL=\d{1,2}|COUNT=\d{1,2}|UNTIL=\d{8}|BYDAY=[+-]?\d?[A-Z]{2}(,[+-]?\d?[A-Z]{2})*|BYMONTHDAY=-?\d{1,2}(,-?\d{1,2})*|BYSETPOS=-?\d|WKST=[A-Z]{2})$/;

/** The days of a rule, from the day of the beginning on. */
function daysOf(rrule: string, first: Temporal.ZonedDateTime): Temporal.PlainDate[] {
  const day = first.toPlainDate().toString().replaceAll('-', '');
  const until = rrule.replace(/UNTIL=(\d{8})$|UNTIL=(\d{8});/, (all, end?: string, mid?: string) =>
    end ? `UNTIL=${end}T235959Z` : mid ? `UNTIL=${mid}T235959Z;` : all,
  );
  const rule = new RRuleTemporal({ rruleString: `DTSTART:${day}T000000Z\nRRULE:${until}` });
  const days = rule.all((_date, index) => index <= MAX_OCCURRENCES);
  return days.map(one => Temporal.PlainDate.from(one.toString().slice(0, 10)));
}

/**
 * Beginnings of a series: the days of the rule, each at the first session's time of day by the wall clock of the zone. A time that a
 * clock change skips moves on by the gap, one that comes twice is the first. Source: booking 7.3.
 * @throws Problem invalid_request for a rule that says more than dates, never ends within 26 occurrences, or has none.
 */
export function occurrencesOf(rrule: string, startsAt: Date, timeZone: string): Date[] {
  const parts = rrule.replace(/^RRULE:/, '').split(';');
  if (!parts.every(part => DATES_ONLY.test(part)) || !parts.some(part => part.startsWith('FREQ=')))
    invalid('/input/rrule', 'must be a rule of dates');
  const first = Temporal.Instant.fromEpochMilliseconds(startsAt.getTime()).toZonedDateTimeISO(timeZone);
  const days = readDays(parts.join(';'), first);
  if (days.length === 0 || days.length > MAX_OCCURRENCES) invalid('/input/rrule', `must have 1 to ${MAX_OCCURRENCES} occurrences`);
  const time = first.toPlainTime();
  return days.map(day => new Date(day.toPlainDateTime(time).toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds));
}

function readDays(rrule: string, first: Temporal.ZonedDateTime): Temporal.PlainDate[] {
  try {
    return daysOf(rrule, first);
  } catch {
    return invalid('/input/rrule', 'is no recurrence rule');
  }
}
