import { Cron } from 'croner';
import { durationMs } from './durations.js';

const MINUTE_MS = 60_000;
/** More than any zone has ever moved its clocks back at once. */
const BACK_MS = 26 * 3_600_000;

/** Five fields, as crontab(5) has them: minute hour day-of-month month day-of-week. Null when malformed. */
function cronOf(expression: string): Cron | null {
  if (expression.trim().split(/\s+/).length !== 5) return null;
  try {
    return new Cron(expression, { mode: '5-part', timezone: 'UTC', paused: true });
  } catch {
    return null;
  }
}

export const isCron = (expression: string): boolean => cronOf(expression)?.nextRun() != null;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, made);
  return made;
}

/** Whether a name is an IANA time zone of this system. */
export function isTimeZone(zone: string): boolean {
  try {
    formatOf(zone);
    return /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone);
  } catch {
    return false;
  }
}

/** What a clock on the wall of the zone shows, as if it were UTC, ms. */
function wallMs(at: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(part => [part.type, Number(part.value)]),
  );
  return Date.UTC(parts.year!, parts.month! - 1, parts.day, parts.hour, parts.minute, parts.second);
}

/** The first instant at which the wall shows at least this time: a doubled time is its first, a skipped one the end of the gap. */
function instantOf(wall: number, zone: string): number {
  const guesses = [wall - wallMs(wall - BACK_MS, zone) + wall - BACK_MS, wall - wallMs(wall + BACK_MS, zone) + wall + BACK_MS];
  const exact = guesses.filter(at => wallMs(at, zone) === wall);
  return exact.length ? Math.min(...exact) : endOfGap(Math.min(...guesses), Math.max(...guesses), wall, zone);
}

/** Halves the span between an instant whose wall is before and one whose wall is after, to the minute. */
function endOfGap(low: number, high: number, wall: number, zone: string): number {
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS || low + MINUTE_MS;
    if (middle >= high) break;
    if (wallMs(middle, zone) >= wall) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * The next instant after `after` at which a cron expression is due on the clocks of a zone. A time that daylight saving skips is due
 * at the first instant after the gap, a time that happens twice the first time only. Null: never again. Source: jobs 7.5.
 */
export function nextCron(expression: string, zone: string, after: Date): Date | null {
  const cron = cronOf(expression);
  if (!cron) return null;
  let wall: Date | null = new Date(wallMs(after.getTime(), zone) - MINUTE_MS);
  while ((wall = cron.nextRun(wall))) {
    const at = instantOf(wall.getTime(), zone);
    if (at > after.getTime()) return new Date(at);
  }
  return null;
}

/** When something recurs: exactly one of the three. */
export interface Recurrence {
  cron: string | null;
  /** ISO 8601 duration; its grid begins at `anchor`. */
  every: string | null;
  at: Date | null;
  timeZone: string;
  anchor: Date;
}

/** The next instant after `after`; null: never again. */
export function nextOf({ cron, every, at, timeZone, anchor }: Recurrence, after: Date): Date | null {
  if (at) return at > after ? at : null;
  if (cron) return nextCron(cron, timeZone, after);
  const step = durationMs(every ?? '');
  if (!step) return null;
  const passed = Math.max(0, Math.floor((after.getTime() - anchor.getTime()) / step) + 1);
  return new Date(anchor.getTime() + passed * step);
}
