import { JobOccurrenceState, JobScheduleMisfire, JobScheduleOverlap } from '../entities/enums.js';

/** A schedule that was away catches up so many occurrences. Source: jobs 2. */
const MAX_CAUGHT_UP = 100;

export interface Decision {
  due: Date;
  state: JobOccurrenceState;
}

export interface Policy {
  misfire: JobScheduleMisfire;
  graceSeconds: number;
}

/**
 * What becomes of the occurrences that are due, oldest first. One that is noticed within the grace is sent; later ones by the
 * policy: none, the last, or at most 100. Source: jobs 7.6.
 */
export function decide(due: readonly Date[], now: Date, { misfire, graceSeconds }: Policy): Decision[] {
  const isLate = (at: Date): boolean => now.getTime() - at.getTime() > graceSeconds * 1000;
  const late = due.filter(isLate);
  const kept = { [JobScheduleMisfire.SKIP]: 0, [JobScheduleMisfire.ONCE]: 1, [JobScheduleMisfire.ALL]: MAX_CAUGHT_UP }[misfire];
  const caughtUp = new Set(kept ? late.slice(-kept) : []);
  return due.map(at => ({ due: at, state: isLate(at) && !caughtUp.has(at) ? JobOccurrenceState.MISFIRED : JobOccurrenceState.SENT }));
}

/** How an occurrence is sent while a job of an earlier one is not finished. Source: jobs 7.7. */
export function besides(overlap: JobScheduleOverlap, unfinished: boolean): 'send' | 'skip' | 'hold' {
  if (!unfinished || overlap === JobScheduleOverlap.ALLOW) return 'send';
  return overlap === JobScheduleOverlap.SKIP ? 'skip' : 'hold';
}

/** Seconds that a job begins later, 0..jitter: the same for one occurrence wherever it is counted. */
export function jitterOf(id: string, seconds: number): number {
  return seconds === 0 ? 0 : Number.parseInt(id.slice(-8), 16) % (seconds + 1);
}
