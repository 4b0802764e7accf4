import type { TransitionTable } from '../../../runtime/request/states.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { AuthChallengePurpose as Purpose } from '../entities/challenge.js';

/** What a challenge is made of and how its sending is announced. */
export interface ChallengeKind {
  purpose: Purpose;
  lifetimeMs: number;
  /** Six digits to type. */
  hasCode: boolean;
  /** Path below the pages that its token leads to; null: no link. */
  linkPath: string | null;
  /** Purpose in `auth.magic_link.requested.v1`; `code`: `auth.two_factor.challenge.v1`; `message`: `comms.message.send_requested.v1`. */
  announce: 'sign_in' | 'verify' | 'recover' | 'code' | 'message';
}

/** By the template that comms writes. Source: identity 2, 4.14, 5; catalogue for the two lifetimes in its examples. */
export const CHALLENGES = {
  sign_in: { purpose: Purpose.SIGN_IN, lifetimeMs: 15 * MINUTE_MS, hasCode: true, linkPath: 'magic', announce: 'sign_in' },
  sign_up: { purpose: Purpose.SIGN_UP, lifetimeMs: DAY_MS, hasCode: true, linkPath: 'magic', announce: 'verify' },
  recovery: { purpose: Purpose.RECOVERY, lifetimeMs: 30 * MINUTE_MS, hasCode: true, linkPath: 'magic', announce: 'recover' },
  email_change: { purpose: Purpose.EMAIL_CHANGE, lifetimeMs: 30 * MINUTE_MS, hasCode: true, linkPath: null, announce: 'verify' },
  phone_verify: { purpose: Purpose.PHONE_VERIFY, lifetimeMs: 10 * MINUTE_MS, hasCode: true, linkPath: null, announce: 'verify' },
  email_undo: { purpose: Purpose.EMAIL_CHANGE, lifetimeMs: 72 * HOUR_MS, hasCode: false, linkPath: 'email-undo', announce: 'message' },
  staff_invitation: {
    purpose: Purpose.STAFF_INVITE,
    lifetimeMs: 7 * DAY_MS,
    hasCode: false,
    linkPath: 'staff-invitations',
    announce: 'message',
  },
  second_factor: { purpose: Purpose.SECOND_FACTOR, lifetimeMs: 10 * MINUTE_MS, hasCode: true, linkPath: null, announce: 'code' },
  reauthenticate: { purpose: Purpose.REAUTHENTICATE, lifetimeMs: 10 * MINUTE_MS, hasCode: true, linkPath: null, announce: 'code' },
} as const satisfies Record<string, ChallengeKind>;

export type ChallengeTemplate = keyof typeof CHALLENGES;

/** Wrong codes that a challenge bears, and how often comms may fetch it. Source: identity 4.8, 4.16. */
export const TRIES = 5;
export const MAX_DELIVERIES = 3;

export type ChallengeState = 'pending' | 'consumed' | 'exhausted' | 'expired';
export type ChallengeTrigger = 'prove' | 'miss' | 'exhaust' | 'lapse';

/** Source: identity 3, Challenge. */
export const CHALLENGE_STATES: TransitionTable<ChallengeState, ChallengeTrigger> = {
  pending: { prove: 'consumed', miss: 'pending', exhaust: 'exhausted', lapse: 'expired' },
  consumed: {},
  exhausted: {},
  expired: {},
};

interface Progress {
  consumedAt: Date | null;
  attemptsLeft: number;
  expiresAt: Date;
}

/** Proof comes first: one that was given in time stays given. A challenge is over at its end, not after it. */
export function challengeState({ consumedAt, attemptsLeft, expiresAt }: Progress, now: Date): ChallengeState {
  if (consumedAt) return 'consumed';
  if (attemptsLeft <= 0) return 'exhausted';
  return expiresAt <= now ? 'expired' : 'pending';
}
