import type { TransitionTable } from '../../../runtime/request/states.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { InterventionStatus as Status } from '../entities/intervention.js';
import type { ProtocolPhase } from '../entities/protocol.js';

export type InterventionTrigger =
  'activate' | 'require_consult' | 'approve' | 'deny' | 'start_by_partner' | 'pause' | 'resume' | 'stop' | 'complete';

/**
 * Intervention states. A consult's approval and the partner's report, which lead from PENDING_CONSULT to ACTIVE, are no calls of
 * anybody's, so `activate` is not in that row. Source: clinical 3.
 */
export const INTERVENTION_STATES = {
  [Status.PROPOSED]: {
    activate: Status.ACTIVE,
    require_consult: Status.PENDING_CONSULT,
    start_by_partner: Status.ACTIVE,
    stop: Status.CANCELLED,
  },
  [Status.PENDING_CONSULT]: {
    approve: Status.ACTIVE,
    deny: Status.CANCELLED,
    start_by_partner: Status.ACTIVE,
    stop: Status.CANCELLED,
  },
  [Status.ACTIVE]: { pause: Status.PAUSED, stop: Status.STOPPED, complete: Status.COMPLETED },
  [Status.PAUSED]: { resume: Status.ACTIVE, stop: Status.STOPPED, complete: Status.COMPLETED },
  [Status.COMPLETED]: {},
  [Status.STOPPED]: {},
  [Status.CANCELLED]: {},
} as const satisfies TransitionTable<Status, InterventionTrigger>;

/** A cycle may start on it. */
export const RUNNING: readonly Status[] = [Status.ACTIVE, Status.PAUSED];
/** It waits for a decision. */
export const WAITING: readonly Status[] = [Status.PROPOSED, Status.PENDING_CONSULT];
export const isRunning = (status: Status): boolean => RUNNING.includes(status);
export const isEnded = (status: Status): boolean => !isRunning(status) && !WAITING.includes(status);

/** First state: a proposal of staff, else PENDING_CONSULT where the protocol needs one, else ACTIVE. */
export function firstStatus(proposed: boolean, requiresConsult: boolean): Status {
  if (proposed) return Status.PROPOSED;
  return requiresConsult ? Status.PENDING_CONSULT : Status.ACTIVE;
}

/** Contraindications of a protocol that a patient has: a code alone stands for itself in any of patient-graph's kinds (`condition:pregnancy`). */
export const contraindicated = (contraindications: readonly string[], codes: readonly string[]): string[] =>
  contraindications.filter(one => codes.some(code => code === one || code.slice(code.indexOf(':') + 1) === one));

/** Civil date in a time zone, YYYY-MM-DD. */
export const dateIn = (timeZone: string, at: Date): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);

/** Days since 1970 of a civil date. */
export const dayNumber = (date: string): number => Date.parse(`${date}T00:00:00Z`) / DAY_MS;

export const plusDays = (date: string, days: number): string => new Date((dayNumber(date) + days) * DAY_MS).toISOString().slice(0, 10);

/** Name of the phase that lies `today`, null before the start and after the end. A phase ends before its `endDay`. */
export function phaseOn(phases: readonly ProtocolPhase[], startedOn: string, today: string): string | null {
  const day = dayNumber(today) - dayNumber(startedOn);
  return phases.find(phase => day >= phase.startDay && day < phase.endDay)?.name ?? null;
}
