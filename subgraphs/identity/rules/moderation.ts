import type { TransitionTable } from '../../../runtime/request/states.js';
import { after, DAY_MS } from '../../../runtime/time/durations.js';
import type { ModerationActionKind } from '../entities/moderation.js';
import { UserStatus } from '../entities/user.js';

/** What staff may do to an account. `erasing` and `erased` have no way back. Source: identity 3, User. */
export const MODERATION: TransitionTable<UserStatus, ModerationActionKind> = {
  [UserStatus.PENDING]: { ban: UserStatus.BANNED },
  [UserStatus.ACTIVE]: { ban: UserStatus.BANNED, suspend: UserStatus.SUSPENDED },
  [UserStatus.SUSPENDED]: { ban: UserStatus.BANNED, suspend: UserStatus.SUSPENDED, reinstate: UserStatus.ACTIVE },
  [UserStatus.BANNED]: { reinstate: UserStatus.ACTIVE },
  [UserStatus.ERASING]: {},
  [UserStatus.ERASED]: {},
};

/** A suspension lasts at most so long. */
const MAX_MS = 365 * DAY_MS;

export interface Term {
  until?: Date | null;
  durationSeconds?: number | null;
}

/** End of a suspension, or what is wrong with it: exactly one of the two is given, and the end lies within 365 days. */
export function suspensionEnd({ until, durationSeconds }: Term, now: Date): Date | { field: string; message: string } {
  if ((until == null) === (durationSeconds == null)) return { field: '', message: 'give either until or duration_seconds' };
  const end = until ?? after(now, durationSeconds! * 1000);
  if (end <= now) return { field: '/until', message: 'must be in the future' };
  return end.getTime() - now.getTime() > MAX_MS ? { field: '/until', message: 'must be at most 365 days ahead' } : end;
}
