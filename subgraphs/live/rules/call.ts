import type { TransitionTable } from '../../../runtime/request/states.js';
import { HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import type { Violation } from '../../../runtime/request/errors.js';
import { LiveCallKind, LiveCallRole, LiveCallStatus } from '../entities/enums.js';

const { CREATED, ACTIVE, ENDED, EXPIRED, CANCELLED } = LiveCallStatus;

export type CallTrigger = 'join' | 'end' | 'expire' | 'cancel';

/** Source: live 3. A visit that is cancelled ends what is under way. */
export const CALL_STATES = {
  [CREATED]: { join: ACTIVE, end: ENDED, expire: EXPIRED, cancel: CANCELLED },
  [ACTIVE]: { join: ACTIVE, end: ENDED, cancel: ENDED },
  [ENDED]: {},
  [EXPIRED]: {},
  [CANCELLED]: {},
} as const satisfies TransitionTable<LiveCallStatus, CallTrigger>;

export const isOver = (status: LiveCallStatus): boolean => status !== CREATED && status !== ACTIVE;

const EARLY_MS = 15 * MINUTE_MS;
export const LATE_MS = 30 * MINUTE_MS;
/** One alone, after two were in it. */
export const SOLO_MS = 10 * MINUTE_MS;
/** Everybody has left. */
export const EMPTY_MS = 2 * MINUTE_MS;
export const DEFAULT_MS = HOUR_MS;

/** Whether a call may be entered: 15 min before it opens to 30 min after it closes. */
export const isInWindow = ({ opensAt, closesAt }: { opensAt: Date; closesAt: Date }, now: Date): boolean =>
  now.getTime() >= opensAt.getTime() - EARLY_MS && now.getTime() <= closesAt.getTime() + LATE_MS;

interface CallPlan {
  kind: LiveCallKind;
  participants: readonly { userId: string; role: LiveCallRole }[];
  opensAt: Date;
  closesAt: Date;
}

/** What is wrong with a call that is asked for. */
export function callViolations({ kind, participants, opensAt, closesAt }: CallPlan): Violation[] {
  const users = new Set(participants.map(({ userId }) => userId.toLowerCase()));
  const [least, most] = kind === LiveCallKind.ONE_TO_ONE ? [2, 2] : [2, 50];
  const length = closesAt.getTime() - opensAt.getTime();
  const checks: [boolean, string, string][] = [
    [users.size !== participants.length, '/input/participants', 'must be different users'],
    [users.size < least || users.size > most, '/input/participants', least === most ? 'must be two' : `must be ${least} to ${most}`],
    [participants.filter(({ role }) => role === LiveCallRole.HOST).length < 1, '/input/participants', 'must have a host'],
    [length <= 0 || length > 8 * HOUR_MS, '/input/closesAt', 'must be at most 8 hours after the opening'],
  ];
  return checks.filter(([wrong]) => wrong).map(([, pointer, message]) => ({ pointer, message }));
}

/** What presence in its room means for an active call at an instant: the ends that are due. */
export function callEndDue(
  { closesAt, aloneSince, emptySince }: { closesAt: Date; aloneSince: Date | null; emptySince: Date | null },
  now: Date,
): 'WINDOW_OVER' | 'HANG_UP' | 'SOLO_TIMEOUT' | null {
  if (now.getTime() >= closesAt.getTime() + LATE_MS) return 'WINDOW_OVER';
  if (emptySince && now.getTime() >= emptySince.getTime() + EMPTY_MS) return 'HANG_UP';
  if (aloneSince && now.getTime() >= aloneSince.getTime() + SOLO_MS) return 'SOLO_TIMEOUT';
  return null;
}
