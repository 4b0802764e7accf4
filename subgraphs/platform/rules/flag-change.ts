import { fail } from '../../../runtime/request/errors.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { move, type TransitionTable } from '../../../runtime/request/states.js';
import { FlagChangeStatus, FlagConditionAttribute, FlagConditionOperator } from '../entities/flag.js';
import { isSame, type FlagPatch, type FlagState, type RuleState } from './flag-state.js';
import type { Rise } from './stage.js';

const { PENDING, APPROVED, APPLIED, REJECTED, SCHEDULED, EXPIRED } = FlagChangeStatus;

type Trigger = 'approve' | 'schedule' | 'reject' | 'apply' | 'expire';

/** `approve` applies at once, `schedule` is an approval of a change for later. Source: platform 3. */
export const FLAG_CHANGES = {
  [PENDING]: { approve: APPLIED, schedule: SCHEDULED, reject: REJECTED, expire: EXPIRED },
  [SCHEDULED]: { apply: APPLIED, expire: EXPIRED },
  [APPROVED]: {},
  [APPLIED]: {},
  [REJECTED]: {},
  [EXPIRED]: {},
} as const satisfies TransitionTable<FlagChangeStatus, Trigger>;

/** @throws Problem conflict naming the state. */
export const moveChange = (from: FlagChangeStatus, trigger: Trigger): FlagChangeStatus =>
  move<FlagChangeStatus, Trigger>(FLAG_CHANGES, 'flag change', from, trigger);

/** How long a change waits for its approval, ms. */
export const PENDING_MS = 7 * DAY_MS;

/** Flags without which the platform could not be switched on: never archived, never less safe. Source: platform 4.2. */
export const SEEDED_FLAGS: readonly string[] = [
  'feature.intelligence.stage',
  'feature.clinical.retest-cycle',
  'feature.clinical.retest-prompt',
];

const isStaff = (actor: string): boolean => actor.startsWith('staff:');

/** Whether two different staff members stand behind a change; a service asks, it does not approve. Source: platform, rule 5. */
export const isApproved = (requestedBy: string, approvals: readonly { by: string }[]): boolean =>
  new Set([requestedBy, ...approvals.map(({ by }) => by)].filter(isStaff)).size >= 2;

/** @throws Problem forbidden for the requester's own change, or a second approval by the same. */
export function checkApprover(by: string, requestedBy: string, approvals: readonly { by: string }[]): void {
  if (by === requestedBy) fail('forbidden', 'A change is approved by somebody else than who asked for it', { reason: 'own_request' });
  if (approvals.some(one => one.by === by)) fail('forbidden', 'This approval was given already', { reason: 'already_approved' });
}

/** What the gate of a stage answers. */
export interface GateAnswer {
  to: string;
  met: boolean;
  reasons: readonly string[];
}

/** The guard of a staged flag. @throws Problem conflict `step_too_large` or `gate_not_met`. Source: platform 4.2. */
export function checkStage(rise: Rise | null, gate: GateAnswer | null): void {
  if (rise === null) return;
  if (rise.steps > 1)
    fail('conflict', `A stage is reached one step at a time; this change takes ${rise.steps}`, { reason: 'step_too_large' });
  if (gate?.to === rise.to && gate.met) return;
  const reasons = gate?.to === rise.to ? gate.reasons : ['unreachable'];
  fail('conflict', `The gate of stage ${rise.to} is not met`, { reason: 'gate_not_met', members: { gateReasons: reasons } });
}

const { BRAND } = FlagConditionAttribute;

/** Brands to which a rule is limited; null: to none. */
function brandsOfRule({ conditions }: RuleState): readonly string[] | null {
  return conditions.find(({ attribute, operator }) => attribute === BRAND && operator === FlagConditionOperator.IN)?.values ?? null;
}

/**
 * Brands that a change concerns; null for all. Only a change of rules can be limited: to the brands that every rule which differs
 * names. Source: platform 5.
 */
export function brandsConcerned(before: FlagState, after: FlagPatch): readonly string[] | null {
  const { rules, ...others } = after;
  if (!rules || Object.keys(others).length > 0) return null;
  const pairs = Array.from({ length: Math.max(rules.length, before.rules.length) }, (_, index) => [before.rules[index], rules[index]]);
  const differing = pairs.filter(([old, fresh]) => !isSame(old, fresh)).flatMap(pair => pair.filter(rule => rule !== undefined));
  const named = differing.map(brandsOfRule);
  return named.some(brands => brands === null) ? null : [...new Set(named.flatMap(brands => brands!))];
}
