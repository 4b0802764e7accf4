import type { TransitionTable } from '../../../runtime/request/states.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { LiveModeration, LiveQuestionStatus } from '../entities/enums.js';

const { PENDING, APPROVED, REJECTED, ANSWERED, HIDDEN, WITHDRAWN, REMOVED } = LiveQuestionStatus;

export type QuestionTrigger = 'approve' | 'reject' | 'answer' | 'hide' | 'withdraw' | 'remove';

/** Source: live 3. */
export const QUESTION_STATES = {
  [PENDING]: { approve: APPROVED, reject: REJECTED, answer: ANSWERED, hide: HIDDEN, withdraw: WITHDRAWN, remove: REMOVED },
  [APPROVED]: { reject: REJECTED, answer: ANSWERED, hide: HIDDEN, withdraw: WITHDRAWN, remove: REMOVED },
  [REJECTED]: { approve: APPROVED, remove: REMOVED },
  [ANSWERED]: { approve: APPROVED, remove: REMOVED },
  [HIDDEN]: { approve: APPROVED, remove: REMOVED },
  [WITHDRAWN]: {},
  [REMOVED]: {},
} as const satisfies TransitionTable<LiveQuestionStatus, QuestionTrigger>;

/** The trigger by which a moderator sets a status; null: nobody may. */
export const QUESTION_TRIGGER: Readonly<Record<LiveQuestionStatus, QuestionTrigger | null>> = {
  [PENDING]: null,
  [APPROVED]: 'approve',
  [REJECTED]: 'reject',
  [ANSWERED]: 'answer',
  [HIDDEN]: 'hide',
  [WITHDRAWN]: null,
  [REMOVED]: null,
};

/** Seen by all viewers. */
export const isPublic = (status: LiveQuestionStatus): boolean => status === APPROVED || status === ANSWERED;
/** There no more, for anybody. */
export const isGone = (status: LiveQuestionStatus): boolean => status === WITHDRAWN || status === REMOVED;

/** Whether somebody who sees the session sees a question of it: the public ones, their own, and who moderates all that are there. */
export const isShown = (status: LiveQuestionStatus, { isOwn, moderates }: { isOwn: boolean; moderates: boolean }): boolean =>
  !isGone(status) && (isPublic(status) || isOwn || moderates);

export const firstStatus = (moderation: LiveModeration, isTeam: boolean): LiveQuestionStatus =>
  isTeam || moderation === LiveModeration.POST ? APPROVED : PENDING;

/** Limits of one user in one session. Source: live 4. */
export const ASK_WINDOW_MS = 5 * MINUTE_MS;
const ASKED_IN_WINDOW = 5;
const MAX_PENDING = 3;
export const MAX_PINNED = 3;

export const asksTooMuch = ({ recent, pending }: { recent: number; pending: number }): boolean =>
  recent >= ASKED_IN_WINDOW || pending >= MAX_PENDING;

export const REASON_CODES = ['spam', 'off_topic', 'duplicate', 'personal_data', 'other'] as const;

/** Voters of a question that others are merged into: all of both, the askers of the others included, its own author left out. */
export function mergedVoters(
  target: { author: string | null; voters: readonly string[] },
  other: { author: string | null; voters: readonly string[] },
): string[] {
  const all = new Set([...target.voters, ...other.voters, ...(other.author ? [other.author] : [])]);
  if (target.author) all.delete(target.author);
  return [...all];
}
