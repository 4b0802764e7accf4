import type { TransitionTable } from '../../../runtime/request/states.js';
import { DisputeStatus as Status } from '../entities/enums-operations.js';

export type DisputeTrigger = 'submit_evidence' | 'escalate' | 'close' | 'win' | 'lose' | 'accept' | 'miss_deadline' | 'prevent';

/** Dispute states; a warning is an inquiry, by which no money moves. Source: payments 3.6. */
export const DISPUTE_STATES = {
  [Status.WARNING_NEEDS_RESPONSE]: {
    submit_evidence: Status.WARNING_UNDER_REVIEW,
    escalate: Status.NEEDS_RESPONSE,
    close: Status.WARNING_CLOSED,
    prevent: Status.PREVENTED,
  },
  [Status.WARNING_UNDER_REVIEW]: { escalate: Status.NEEDS_RESPONSE, close: Status.WARNING_CLOSED, prevent: Status.PREVENTED },
  [Status.NEEDS_RESPONSE]: {
    submit_evidence: Status.UNDER_REVIEW,
    win: Status.WON,
    lose: Status.LOST,
    accept: Status.LOST,
    miss_deadline: Status.LOST,
    prevent: Status.PREVENTED,
  },
  [Status.UNDER_REVIEW]: {
    win: Status.WON,
    lose: Status.LOST,
    accept: Status.LOST,
    miss_deadline: Status.LOST,
    prevent: Status.PREVENTED,
  },
  [Status.WARNING_CLOSED]: {},
  [Status.WON]: {},
  [Status.LOST]: {},
  [Status.PREVENTED]: {},
} as const satisfies TransitionTable<Status, DisputeTrigger>;

/** Triggers that a report of the processor can stand for; the others are ours. */
const REPORTED: readonly DisputeTrigger[] = ['submit_evidence', 'escalate', 'close', 'win', 'lose', 'prevent'];

const next = (status: Status, trigger: DisputeTrigger): Status | undefined =>
  (DISPUTE_STATES[status] as Partial<Record<DisputeTrigger, Status>>)[trigger];

/**
 * The shortest way from a state to the one that the processor reports, which may have gone through several meanwhile; empty for the
 * same state, null for one that lies behind.
 */
export function stepsTo(from: Status, reported: Status): readonly DisputeTrigger[] | null {
  const ways: [Status, readonly DisputeTrigger[]][] = [[from, []]];
  for (const [status, way] of ways) {
    if (status === reported) return way;
    for (const trigger of REPORTED) {
      const to = next(status, trigger);
      if (to !== undefined && way.length < REPORTED.length) ways.push([to, [...way, trigger]]);
    }
  }
  return null;
}

const INQUIRIES: readonly Status[] = [Status.WARNING_NEEDS_RESPONSE, Status.WARNING_UNDER_REVIEW, Status.WARNING_CLOSED];
const CHARGEBACKS: readonly Status[] = [Status.NEEDS_RESPONSE, Status.UNDER_REVIEW];

export const isInquiry = (status: Status): boolean => INQUIRIES.includes(status);
/** Its money has been withdrawn, and nothing is decided. */
export const isChargeback = (status: Status): boolean => CHARGEBACKS.includes(status);
export const isOpen = (status: Status): boolean => isChargeback(status) || status === INQUIRIES[0] || status === INQUIRIES[1];

/** How a dispute that is seen for the first time was opened. */
export const openedAs = (reported: Status, fundsWithdrawn: boolean): Status =>
  isInquiry(reported) || (reported === Status.PREVENTED && !fundsWithdrawn) ? Status.WARNING_NEEDS_RESPONSE : Status.NEEDS_RESPONSE;

/** `outcome` of payment.dispute.closed; null while it is open. Source: payments 5.1. */
export function outcomeOf(status: Status): 'won' | 'lost' | 'withdrawn' | null {
  if (status === Status.WON) return 'won';
  if (status === Status.LOST) return 'lost';
  return isOpen(status) ? null : 'withdrawn';
}
