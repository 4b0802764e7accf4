import { createHash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { memoText } from '../../../runtime/lazy.js';

/** Wall-clock window `[from, to)`, `HH:MM`; the same twice: none. */
export interface QuietWindow {
  from: string;
  to: string;
}

const MINUTES_PER_DAY = 1440;
/** A guessed zone widens the window by so much at each side, minutes. Source: comms 4.3. */
const WIDER = 180;
/** And never beyond 22 hours. */
const WIDEST = 1320;
const SPREAD_MS = 600_000;

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
const timeOf = (minutes: number): string => {
  const within = ((minutes % MINUTES_PER_DAY) + MINUTES_PER_DAY) % MINUTES_PER_DAY;
  return `${String(Math.floor(within / 60)).padStart(2, '0')}:${String(within % 60).padStart(2, '0')}`;
};
const lengthOf = ({ from, to }: QuietWindow): number => (minutesOf(to) - minutesOf(from) + MINUTES_PER_DAY) % MINUTES_PER_DAY;

/** The window where only a guess says which zone a person is in. */
export function widened(window: QuietWindow): QuietWindow {
  const length = lengthOf(window);
  if (length === 0) return window;
  const more = Math.max(0, Math.min(WIDER * 2, WIDEST - length));
  return { from: timeOf(minutesOf(window.from) - Math.ceil(more / 2)), to: timeOf(minutesOf(window.to) + Math.floor(more / 2)) };
}

/** The end of a window at a local day: a time that a DST day lacks is the first instant after the gap, one that it has twice the first. */
function instantAt(day: Temporal.PlainDate, time: string, zone: string): Temporal.ZonedDateTime {
  const local = day.toPlainDateTime(Temporal.PlainTime.from(time));
  const at = local.toZonedDateTime(zone, { disambiguation: 'compatible' });
  if (at.toPlainDateTime().equals(local)) return at;
  return local.toZonedDateTime(zone, { disambiguation: 'earlier' }).getTimeZoneTransition('next') ?? at;
}

/** Each person's own minutes after the window's end, so that not all are sent to at once. @returns ms below ten minutes. */
export const spreadOf = (userId: string): number => createHash('sha256').update(userId).digest().readUInt32BE(0) % SPREAD_MS;

/** When a message of `now` may leave: null for at once, else the end of the window in which `now` lies, spread by person. */
export function quietUntil(now: Date, window: QuietWindow, zone: string, userId: string): Date | null {
  if (lengthOf(window) === 0) return null;
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone);
  for (const shift of [-1, 0]) {
    const day = local.toPlainDate().add({ days: shift });
    const from = instantAt(day, window.from, zone);
    const to = instantAt(minutesOf(window.to) <= minutesOf(window.from) ? day.add({ days: 1 }) : day, window.to, zone);
    const inside = from.epochMilliseconds <= now.getTime() && now.getTime() < to.epochMilliseconds;
    if (inside) return new Date(to.epochMilliseconds + spreadOf(userId));
  }
  return null;
}

/** Adverts by SMS leave between nine and twenty, local time, whatever somebody chose. Source: comms 4.3. */
export const MARKETING_SMS_QUIET: QuietWindow = { from: '20:00', to: '09:00' };

/** Once for each zone: a formatter takes 0.1 ms to make, and every message asks. */
const isZone = memoText((zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
});

/** A valid IANA zone, else null. */
export const zoneOrNull = (zone: string | null | undefined): string | null => (zone && isZone(zone) ? zone : null);
