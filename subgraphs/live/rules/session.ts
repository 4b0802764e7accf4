import { fail, type Violation } from '../../../runtime/request/errors.js';
import type { TransitionTable } from '../../../runtime/request/states.js';
import { HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { LiveHostRole, LiveSessionKind, LiveSessionStatus, LiveVisibility } from '../entities/enums.js';

const { DRAFT, SCHEDULED, LIVE, ENDED, CANCELLED } = LiveSessionStatus;

export type SessionTrigger = 'publish' | 'start' | 'end' | 'cancel';

/** Source: live 3. Deleting and hiding are no transitions. */
export const SESSION_STATES = {
  [DRAFT]: { publish: SCHEDULED },
  [SCHEDULED]: { start: LIVE, cancel: CANCELLED },
  [LIVE]: { end: ENDED },
  [ENDED]: {},
  [CANCELLED]: {},
} as const satisfies TransitionTable<LiveSessionStatus, SessionTrigger>;

/** The trigger that a PATCH of `status` pulls; null: there is no way to it. */
export const TRIGGER_TO: Readonly<Record<LiveSessionStatus, SessionTrigger | null>> = {
  [DRAFT]: null,
  [SCHEDULED]: 'publish',
  [LIVE]: 'start',
  [ENDED]: 'end',
  [CANCELLED]: 'cancel',
};

/** From when the host team may enter and start. */
export const HOST_EARLY_MS = 60 * MINUTE_MS;
/** After its beginning one that nobody started is cancelled. */
export const NO_SHOW_MS = 60 * MINUTE_MS;
/** After its end, with nobody of the host team in the room. */
export const OVERRUN_MS = 2 * HOUR_MS;
export const HOST_ABSENT_MS = 10 * MINUTE_MS;
/** However it goes on. */
export const LONGEST_MS = 14 * HOUR_MS;

const SHORTEST_MS = 5 * MINUTE_MS;
const LONGEST_PLANNED_MS = 12 * HOUR_MS;
const GROUP_MAX = 100;

/** What a session is made of, as far as rules look at it. */
export interface SessionPlan {
  kind: LiveSessionKind;
  startsAt: Date;
  endsAt: Date;
  capacity: number | null;
  tags: readonly string[];
  coverImageUrl: string | null;
  title: string;
}

/** Control characters and those that turn the direction of text around; a question may have line breaks. Source: live 7.16. */
const UNFIT = /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u;
export const isPlainText = (text: string): boolean => !UNFIT.test(text);
export const isPlainQuestion = (text: string): boolean => !UNFIT.test(text.replaceAll('\n', ' ')) && text.trim() !== '';

/** Capacity of a kind: what was asked for, else its own. */
export function capacityOf(kind: LiveSessionKind, capacity: number | null | undefined): number | null {
  if (kind === LiveSessionKind.ONE_TO_ONE) return 1;
  if (kind === LiveSessionKind.GROUP) return capacity ?? GROUP_MAX;
  return capacity ?? null;
}

/** Everything that is wrong with a plan; pointers as in the input. Source: live 2. */
export function planViolations(plan: SessionPlan): Violation[] {
  const length = plan.endsAt.getTime() - plan.startsAt.getTime();
  const checks: [boolean, string, string][] = [
    [length < SHORTEST_MS || length > LONGEST_PLANNED_MS, '/input/endsAt', 'must be 5 minutes to 12 hours after the beginning'],
    [plan.kind === LiveSessionKind.ONE_TO_ONE && plan.capacity !== 1, '/input/capacity', 'must be 1 for one-to-one'],
    [
      plan.kind === LiveSessionKind.GROUP && (plan.capacity ?? GROUP_MAX + 1) > GROUP_MAX,
      '/input/capacity',
      `must be at most ${GROUP_MAX} for a group`,
    ],
    [plan.tags.some(tag => tag.length < 1 || tag.length > 40), '/input/tags', 'must have 1 to 40 characters each'],
    [plan.coverImageUrl !== null && !plan.coverImageUrl.startsWith('https://'), '/input/coverImageUrl', 'must be https'],
    [!isPlainText(plan.title) || plan.title.trim() === '', '/input/title', 'must be plain text'],
  ];
  return checks.filter(([wrong]) => wrong).map(([, pointer, message]) => ({ pointer, message }));
}

/** What cannot change while a session is on air. */
export const FIXED_WHILE_LIVE = ['startsAt', 'registrationRequired', 'visibility', 'recordingEnabled'] as const;

/** @throws Problem conflict, where one of these is changed. */
export function requireChangeable(status: LiveSessionStatus, changed: readonly string[]): void {
  if (status === ENDED || status === CANCELLED) fail('conflict', `a session that is ${status} cannot be changed`);
  const fixed = status === LIVE ? changed.find(name => (FIXED_WHILE_LIVE as readonly string[]).includes(name)) : undefined;
  if (fixed) fail('conflict', `${fixed} of a session that is live cannot be changed`, { reason: 'immutable' });
}

/** Whether somebody without a part in it finds a session. */
export const isFound = (
  { status, visibility, hidden }: { status: LiveSessionStatus; visibility: LiveVisibility; hidden: boolean },
  isInvited: boolean,
): boolean => !hidden && status !== DRAFT && (visibility !== LiveVisibility.INVITE || isInvited);

export const mayRun = (role: LiveHostRole | null): boolean => role === LiveHostRole.HOST || role === LiveHostRole.CO_HOST;
export const mayModerate = (role: LiveHostRole | null): boolean => mayRun(role) || role === LiveHostRole.MODERATOR;
export const maySpeak = (role: string, kind: LiveSessionKind): boolean =>
  ['host', 'co_host', 'speaker'].includes(role) || kind !== LiveSessionKind.BROADCAST;
