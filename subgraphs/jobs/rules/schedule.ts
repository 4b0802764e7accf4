import type { Violation } from '../../../runtime/request/errors.js';

/** The shortest distance that a schedule may have. */
const MIN_EVERY_MS = 60_000;

export interface Times {
  cron: string | null;
  every: string | null;
  at: Date | null;
  timeZone: string;
}

/** What is known about the times of a schedule: whether they can be read. */
export interface Readable {
  cron: boolean;
  everyMs: number | null;
  timeZone: boolean;
}

/** Everything that is wrong with the times of a schedule. Source: jobs 2, JobSchedule. */
export function timeViolations({ cron, every, at }: Times, readable: Readable, now: Date): Violation[] {
  const given = [cron, every, at].filter(one => one != null).length;
  const wrong = (key: string, message: string): Violation => ({ pointer: `/input/${key}`, message });
  return [
    ...(given === 1 ? [] : [{ pointer: '/input', message: 'must have exactly one of cron, every and at' }]),
    ...(cron != null && !readable.cron ? [wrong('cron', 'is not a cron expression of five fields that is ever due')] : []),
    ...(every != null && readable.everyMs === null ? [wrong('every', 'is not an ISO 8601 duration')] : []),
    ...(every != null && readable.everyMs !== null && readable.everyMs < MIN_EVERY_MS ? [wrong('every', 'must be a minute or more')] : []),
    ...(at != null && at <= now ? [wrong('at', 'must be later than now')] : []),
    ...(readable.timeZone ? [] : [wrong('timeZone', 'is not a time zone')]),
  ];
}
