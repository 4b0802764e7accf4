/** Lengths of time in milliseconds. A day is exactly 24 hours; civil days are the business of dates. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const DURATION = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** ISO 8601 duration of weeks, days, hours, minutes and seconds in milliseconds; null when malformed. */
export function durationMs(text: string): number | null {
  const match = DURATION.exec(text);
  if (!match || text === 'P' || text.endsWith('T')) return null;
  const [weeks, days, hours, minutes, seconds] = match.slice(1).map(part => Number(part ?? 0)) as [number, number, number, number, number];
  return (weeks * 7 + days) * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + Math.round(seconds * SECOND_MS);
}

/** `ms` after an instant, or before it where negative. */
export const after = (at: Date, ms: number): Date => new Date(at.getTime() + ms);
