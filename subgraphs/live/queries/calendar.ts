import ical, { ICalCalendarMethod, ICalEventStatus } from 'ical-generator';
import { LiveSessionStatus } from '../entities/enums.js';
import type { LiveSession } from '../entities/session.js';

/**
 * A session as an iCalendar file. UID and SEQUENCE stay and grow, so that a calendar moves the entry instead of adding one. Times are UTC.
 * @param summary the title only for those who asked for it: a calendar is read by others. Source: live 4.
 */
export function calendarOf(session: LiveSession, summary: string): string {
  const isCancelled = session.status === LiveSessionStatus.CANCELLED;
  const calendar = ical({
    prodId: { company: 'Platform Service Suite', product: 'live' },
    method: isCancelled ? ICalCalendarMethod.CANCEL : ICalCalendarMethod.PUBLISH,
  });
  calendar.createEvent({
    id: `${session.id}@live`,
    sequence: session.calendarSequence,
    start: session.startsAt,
    end: session.endsAt,
    stamp: session.updatedAt,
    summary,
    status: isCancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
  });
  return calendar.toString();
}
