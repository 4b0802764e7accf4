import { fail, type Violation } from '../../../runtime/request/errors.js';
import { move, type TransitionTable } from '../../../runtime/request/states.js';
import { MembershipPlanStatus, MembershipStatus, SuspensionReason } from '../entities/enums.js';
import type { MembershipTier } from '../entities/plan.js';

const { DRAFT, PUBLISHED, RETIRED } = MembershipPlanStatus;

const PLAN_STATES: TransitionTable<MembershipPlanStatus, 'publish' | 'retire'> = {
  [DRAFT]: { publish: PUBLISHED },
  [PUBLISHED]: { retire: RETIRED },
  [RETIRED]: {},
};

/** @throws Problem conflict naming the state. */
export const planAfter = (status: MembershipPlanStatus, trigger: 'publish' | 'retire'): MembershipPlanStatus =>
  move(PLAN_STATES, 'plan', status, trigger);

type Shape = Pick<MembershipTier, 'key' | 'rank'>;

const isRepeated = (values: readonly unknown[], index: number): boolean => values.indexOf(values[index]) !== index;

/** Keys and ranks are unique in a plan. */
export function tierViolations(tiers: readonly Shape[]): Violation[] {
  const [keys, ranks] = [tiers.map(tier => tier.key), tiers.map(tier => tier.rank)];
  return tiers.flatMap((_tier, index) => [
    ...(isRepeated(keys, index) ? [{ pointer: `/input/tiers/${index}/key`, message: 'stands twice' }] : []),
    ...(isRepeated(ranks, index) ? [{ pointer: `/input/tiers/${index}/rank`, message: 'stands twice' }] : []),
  ]);
}

const keysOf = (tiers: readonly Shape[]): string =>
  tiers
    .map(tier => tier.key)
    .sort()
    .join(' ');

/** @throws Problem conflict for other keys than a plan has that was published. Source: membership 2. */
export function requireSameKeys(status: MembershipPlanStatus, now: readonly Shape[], wanted: readonly Shape[]): void {
  if (status !== DRAFT && keysOf(now) !== keysOf(wanted))
    fail('conflict', `the tiers of a plan that is ${status} keep their keys`, { reason: 'tier_keys_immutable' });
}

const STAFF_ACTS: TransitionTable<MembershipStatus, 'be suspended' | 'be unsuspended' | 'be lapsed' | 'change tier'> = {
  [MembershipStatus.ACTIVE]: {
    'be suspended': MembershipStatus.SUSPENDED,
    'be lapsed': MembershipStatus.LAPSED,
    'change tier': MembershipStatus.ACTIVE,
  },
  [MembershipStatus.SUSPENDED]: {
    'be suspended': MembershipStatus.SUSPENDED,
    'be unsuspended': MembershipStatus.SUSPENDED,
    'be lapsed': MembershipStatus.LAPSED,
    'change tier': MembershipStatus.SUSPENDED,
  },
  [MembershipStatus.LAPSED]: {},
};

interface Held {
  status: MembershipStatus;
  suspensionReasons: readonly SuspensionReason[];
}

/** Staff may add and remove their own reason only. @throws Problem conflict naming the state. Source: membership 4. */
export function requireStaffAct(
  { status, suspensionReasons }: Held,
  act: 'be suspended' | 'be unsuspended' | 'be lapsed' | 'change tier',
): void {
  move(STAFF_ACTS, 'membership', status, act);
  const byStaff = suspensionReasons.includes(SuspensionReason.STAFF);
  if (act === 'be suspended' && byStaff) fail('conflict', 'staff have suspended this membership already');
  if (act === 'be unsuspended' && !byStaff) fail('conflict', 'staff have not suspended this membership');
}

const MOST_YEARS = 2;

/** What is wrong with the end of a comp. Source: membership 3. */
export function compViolations(endsAt: Date | null, now: Date): Violation[] {
  const most = new Date(now);
  most.setUTCFullYear(now.getUTCFullYear() + MOST_YEARS);
  if (endsAt === null || (endsAt > now && endsAt <= most)) return [];
  return [{ pointer: '/input/endsAt', message: `must be in the future, at most ${MOST_YEARS} years ahead` }];
}
