import type { TransitionTable } from '../../../runtime/request/states.js';
import { DAY_MS, HOUR_MS } from '../../../runtime/time/durations.js';

export type ErasureState = 'scheduled' | 'on_hold' | 'in_progress' | 'partial' | 'completed' | 'cancelled' | 'rejected';
export type ErasureTrigger = 'cancel' | 'reject' | 'hold' | 'release' | 'start' | 'complete' | 'lapse';

/** Erasure requests. Source: identity 3. From in_progress there is no way back. */
export const ERASURE_STATES: TransitionTable<ErasureState, ErasureTrigger> = {
  scheduled: { cancel: 'cancelled', reject: 'rejected', hold: 'on_hold', start: 'in_progress' },
  on_hold: { reject: 'rejected', release: 'scheduled' },
  in_progress: { complete: 'completed', lapse: 'partial' },
  partial: { complete: 'completed' },
  completed: {},
  cancelled: {},
  rejected: {},
};

/** Time in which a user's own request can be cancelled. Source: identity 3. */
export const CANCEL_WINDOW_MS = 72 * HOUR_MS;
/** Every service has confirmed by then, or is named. Source: identity 2. */
export const DUE_MS = 30 * DAY_MS;
/** A service that has not confirmed for so long is asked again. Source: identity 3. */
export const ASK_AGAIN_MS = 72 * HOUR_MS;
/** Questions without an answer until somebody is called. Source: identity 3. */
export const ALARM_AFTER = 3;

type Scope = 'full' | 'health' | 'marketing';

const [CARE, MONEY, SHOP] = [
  ['clinical', 'intelligence'],
  ['accounting', 'cash', 'payments', 'membership', 'affiliates'],
  ['commerce', 'content'],
];
const HOUSE = ['entitlements', 'jobs', 'platform', 'workflow'];

/** Services that hold data of each kind and exist; identity's own task runs last. A test compares the first with the list of services. */
const HOLDERS: Readonly<Record<Scope, readonly string[]>> = {
  full: [...CARE, ...MONEY, ...SHOP, ...HOUSE, 'comms', 'live', 'webhooks', 'events', 'identity'],
  health: [...CARE, 'live', 'webhooks', 'events'],
  marketing: ['comms', 'affiliates', 'identity'],
};

export const holdersOf = (scope: Scope): readonly string[] => HOLDERS[scope];
