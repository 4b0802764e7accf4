import type { TransitionTable } from '../../../runtime/request/states.js';
import { DecisionStatus, LoopProposalStatus, RegistryStatus } from '../entities/enums.js';

const { RAISED, APPROVED, REJECTED, APPLIED } = LoopProposalStatus;

/** Only a human moves a proposal on. Source: spec 1, States and transitions. */
export const PROPOSAL_STATES: TransitionTable<LoopProposalStatus, 'approve' | 'reject' | 'apply'> = {
  [RAISED]: { approve: APPROVED, reject: REJECTED },
  [APPROVED]: { apply: APPLIED },
  [REJECTED]: {},
  [APPLIED]: {},
};

const { PENDING, JOINED, EXPIRED_UNJOINED, DEFERRED, DISCARDED } = DecisionStatus;

/** Source: spec 1, States and transitions; intelligence 3. */
export const DECISION_STATES: TransitionTable<DecisionStatus, 'activate' | 'lapse' | 'join' | 'expire'> = {
  [DEFERRED]: { activate: PENDING, lapse: DISCARDED },
  [PENDING]: { join: JOINED, expire: EXPIRED_UNJOINED },
  [JOINED]: {},
  [EXPIRED_UNJOINED]: {},
  [DISCARDED]: {},
};

/** A decision that is made ahead may be shown for a day. Source: intelligence 3. */
export const ACTIVATION_HOURS = 24;

const { CANDIDATE, CHAMPION, RETIRED } = RegistryStatus;

/** Source: spec 1, States and transitions; intelligence 3. */
export const REGISTRY_STATES: TransitionTable<RegistryStatus, 'promote' | 'retire' | 'roll back to'> = {
  [CANDIDATE]: { promote: CHAMPION },
  [CHAMPION]: { retire: RETIRED },
  [RETIRED]: { promote: CHAMPION, 'roll back to': CHAMPION },
};
