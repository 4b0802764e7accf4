import { EntitlementDenialReason, EntitlementFeatureKind, type EntitlementUsageReset } from '../entities/enums.js';
import type { TierFeature } from '../entities/tier.js';

/** The feature whose value is the tier of an active member. Source: entitlements 3. */
export const BUILT_IN = 'membership.tier';

/** A membership as membership tells of it. */
export interface MembershipFacts {
  id: string;
  brandId: string;
  tierId: string;
  tierKey: string;
  rank: number;
  /** ACTIVE, SUSPENDED or LAPSED. */
  status: string;
  /** A comp without a subscription ends at its end without any event. */
  isComp: boolean;
  startedAt: Date;
  periodStart: Date | null;
  periodEnd: Date | null;
}

export type TierGrant = Pick<TierFeature, 'tierId' | 'value' | 'limit' | 'softLimit' | 'reset' | 'keepWhileSuspended'>;

/** What a tier decides, and by whose membership it is counted. */
export interface TierOutcome {
  allow: boolean;
  value: unknown;
  limit: number | null;
  endsAt: Date | null;
  reset?: EntitlementUsageReset;
  softLimit?: boolean;
  membership: MembershipFacts;
}

export const endOf = (one: MembershipFacts): Date | null => (one.isComp ? one.periodEnd : null);
const hasEnded = (one: MembershipFacts, at: Date): boolean => {
  const end = endOf(one);
  return end !== null && at >= end;
};

export const isLive = (one: MembershipFacts, at: Date): boolean => one.status !== 'LAPSED' && !hasEnded(one, at);
const isActive = (one: MembershipFacts, at: Date): boolean => one.status === 'ACTIVE' && isLive(one, at);

/** The highest rank first, then the newest. */
export const byRank = (a: MembershipFacts, b: MembershipFacts): number =>
  b.rank - a.rank || b.startedAt.getTime() - a.startedAt.getTime() || (a.id < b.id ? 1 : -1);

type Shape = { key: string; kind: EntitlementFeatureKind };

/** A metered feature has a limit instead of a value. */
function isGiven(kind: EntitlementFeatureKind, value: unknown): boolean {
  if (kind === EntitlementFeatureKind.BOOLEAN) return value !== false;
  return kind === EntitlementFeatureKind.METERED || value !== null;
}

function outcomeOf({ kind }: Shape, grant: TierGrant, membership: MembershipFacts): TierOutcome {
  const { value, limit, softLimit, reset } = grant;
  return { allow: isGiven(kind, value), value, limit, softLimit, reset, endsAt: endOf(membership), membership };
}

const limitOf = ({ limit }: TierOutcome): number => limit ?? Number.POSITIVE_INFINITY;

/** Allowed over denied; of limits none, else the highest; of values that of the highest rank, then of the newest. Source: entitlements 3. */
const better =
  (kind: EntitlementFeatureKind) =>
  (a: TierOutcome, b: TierOutcome): number => {
    if (a.allow !== b.allow) return a.allow ? -1 : 1;
    if (kind === EntitlementFeatureKind.METERED && limitOf(a) !== limitOf(b)) return limitOf(b) > limitOf(a) ? 1 : -1;
    return byRank(a.membership, b.membership);
  };

const built = (membership: MembershipFacts): TierOutcome => ({
  allow: true,
  value: membership.tierKey,
  limit: null,
  endsAt: endOf(membership),
  membership,
});

/** The best of what a user's tiers give; null: nothing. */
export function bestTier(
  feature: Shape,
  memberships: readonly MembershipFacts[],
  grants: readonly TierGrant[],
  at: Date,
): TierOutcome | null {
  if (feature.key === BUILT_IN) {
    const active = memberships.filter(one => isActive(one, at)).sort(byRank)[0];
    return active ? built(active) : null;
  }
  const outcomes = memberships
    .filter(one => isLive(one, at))
    .flatMap(membership => {
      const grant = grants.find(one => one.tierId === membership.tierId);
      return grant && (isActive(membership, at) || grant.keepWhileSuspended) ? [outcomeOf(feature, grant, membership)] : [];
    });
  return outcomes.sort(better(feature.kind))[0] ?? null;
}

/** Why nothing gives a feature. Where no tier has it, a membership would not help. */
export function denialOf(
  feature: Shape,
  memberships: readonly MembershipFacts[],
  grants: readonly TierGrant[],
  at: Date,
): EntitlementDenialReason {
  const { NOT_IN_TIER, NO_MEMBERSHIP, SUSPENDED, EXPIRED } = EntitlementDenialReason;
  if (grants.length === 0 && feature.key !== BUILT_IN) return NOT_IN_TIER;
  const live = memberships.filter(one => isLive(one, at));
  const has = (one: MembershipFacts): boolean => feature.key === BUILT_IN || grants.some(grant => grant.tierId === one.tierId);
  if (live.some(one => one.status === 'SUSPENDED' && has(one))) return SUSPENDED;
  if (live.length > 0) return NOT_IN_TIER;
  return memberships.some(one => one.status !== 'LAPSED') ? EXPIRED : NO_MEMBERSHIP;
}

/** The tiers that give a feature: something of it, and more than nothing. */
export const givingTiersOf = ({ kind }: Shape, grants: readonly TierGrant[]): string[] =>
  grants.filter(({ value, limit }) => isGiven(kind, value) && limit !== 0).map(grant => grant.tierId);
