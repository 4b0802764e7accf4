import type { Entitlement, EntitlementCheck } from '../entities/entitlement.js';
import type { EntitlementFeature } from '../entities/feature.js';
import type { EntitlementOverride } from '../entities/override.js';
import {
  EntitlementAccess,
  EntitlementDenialReason,
  EntitlementFailMode,
  EntitlementFeatureKind,
  EntitlementOverrideState,
  EntitlementSource,
  type EntitlementUsageReset,
} from '../entities/enums.js';
import { newestFirst, stateOf } from './override.js';
import { periodOf, type Billing, type Period } from './periods.js';
import { bestTier, BUILT_IN, givingTiersOf, byRank, denialOf, endOf, isLive, type MembershipFacts, type TierGrant } from './tier.js';

export type FeatureFacts = Pick<EntitlementFeature, 'key' | 'kind' | 'defaultValue' | 'usageReset' | 'softLimit' | 'failMode'>;
export type OverrideFacts = Pick<EntitlementOverride, 'id' | 'allow' | 'value' | 'limit' | 'startsAt' | 'endsAt' | 'source' | 'createdAt'>;

/** What is known of a user and a feature. */
export interface Situation {
  overrides: readonly OverrideFacts[];
  /** What tiers give of the feature, also those that the user is not on. */
  grants: readonly TierGrant[];
  /** Null: membership is not there, and nothing recent is known. */
  memberships: readonly MembershipFacts[] | null;
  /** What is known of memberships is not of now. */
  isFallback: boolean;
}

/** What one rule decides: `value` of a config feature, `limit` of a metered one (null: none). */
interface Outcome {
  allow: boolean;
  value: unknown;
  limit: number | null;
  endsAt: Date | null;
  /** A tier counts by itself; where it says nothing the feature does. */
  reset?: EntitlementUsageReset;
  softLimit?: boolean;
  membership?: MembershipFacts;
}

type Rule = (feature: FeatureFacts, situation: Situation, at: Date) => Outcome | null;

const newestOf =
  (source: EntitlementSource): Rule =>
  (_feature, { overrides }, at) => {
    const active = overrides.filter(one => one.source === source && stateOf(one, at) === EntitlementOverrideState.ACTIVE);
    return active.toSorted(newestFirst)[0] ?? null;
  };

/** Whether tiers have a say in a feature. */
const isTiered = ({ key }: FeatureFacts, { grants }: Situation): boolean => key === BUILT_IN || grants.length > 0;

const tierRule: Rule = (feature, situation, at) => bestTier(feature, situation.memberships ?? [], situation.grants, at);

/** What holds where nobody can say what the tier is: everything, or nothing. Source: entitlements 7.5. */
const failRule: Rule = (feature, situation) => {
  if (situation.memberships !== null || !isTiered(feature, situation)) return null;
  return { allow: feature.failMode === EntitlementFailMode.OPEN, value: feature.defaultValue, limit: null, endsAt: null };
};

/** What everybody has: true, a limit, or a value, by kind. */
const defaultRule: Rule = ({ kind, defaultValue }) => {
  if (defaultValue === null || (kind === EntitlementFeatureKind.BOOLEAN && defaultValue === false)) return null;
  const limit = kind === EntitlementFeatureKind.METERED ? (defaultValue as number) : null;
  return { allow: true, value: defaultValue, limit, endsAt: null };
};

/** The rules in the order in which they are tried; the first with an outcome decides. Source: entitlements 3. */
const RULES: readonly { rule: EntitlementSource; decide: Rule }[] = [
  { rule: EntitlementSource.OVERRIDE, decide: newestOf(EntitlementSource.OVERRIDE) },
  { rule: EntitlementSource.PURCHASE, decide: newestOf(EntitlementSource.PURCHASE) },
  { rule: EntitlementSource.TIER, decide: tierRule },
  { rule: EntitlementSource.FALLBACK, decide: failRule },
  { rule: EntitlementSource.DEFAULT, decide: defaultRule },
];

export interface Tried {
  rule: EntitlementSource;
  /** Null: the rule does not apply. */
  outcome: Outcome | null;
  decisive: boolean;
}

/** Every rule with its outcome, in order, also those after the one that decides; the last one decides where none has an outcome. */
export function tried(feature: FeatureFacts, situation: Situation, at: Date): Tried[] {
  const all = RULES.map(({ rule, decide }) => ({ rule, outcome: decide(feature, situation, at) }));
  const first = all.findIndex(one => one.outcome !== null);
  const shown = all.map((one, index) => ({ ...one, decisive: index === (first < 0 ? all.length - 1 : first) }));
  return shown.filter(({ rule, outcome }) => rule !== EntitlementSource.FALLBACK || outcome !== null);
}

const DENIED = { access: EntitlementAccess.DENIED, value: null, limit: null, used: null, remaining: null, resetsAt: null } as const;

/** Counts a limit down. At nothing left a hard limit denies; a soft one is only shown. Source: entitlements 7.7. */
function metered(limit: number | null, used: number, softLimit: boolean, resetsAt: Date | null) {
  const remaining = limit === null ? null : Math.max(0, limit - used);
  const reached = remaining === 0 && !softLimit;
  return {
    access: reached ? EntitlementAccess.LIMIT_REACHED : EntitlementAccess.GRANTED,
    reason: reached ? EntitlementDenialReason.LIMIT_REACHED : null,
    value: null,
    limit,
    used,
    remaining,
    resetsAt,
  };
}

/** The billing period by which is counted: of the deciding membership, else of the best one. */
function billingOf(outcome: Outcome | null, { memberships }: Situation, at: Date): Billing | null {
  const deciding = outcome?.membership ?? memberships?.filter(one => isLive(one, at)).sort(byRank)[0];
  return deciding?.periodStart && deciding.periodEnd ? { start: deciding.periodStart, end: deciding.periodEnd } : null;
}

export interface Resolution {
  entitlement: Entitlement;
  /** Of the counter. */
  period: Period;
  softLimit: boolean;
  isFallback: boolean;
  /** Tiers whose members may use it. */
  givingTiers: readonly string[];
}

const reasonOf = (feature: FeatureFacts, { memberships, grants }: Situation, at: Date): EntitlementDenialReason =>
  denialOf(feature, memberships ?? [], grants, at);

function answerOf(
  feature: FeatureFacts,
  situation: Situation,
  { rule, outcome }: Tried,
  used: number,
  resetsAt: Date | null,
  at: Date,
): Entitlement {
  const common = { key: feature.key, source: rule, endsAt: outcome?.endsAt ?? null };
  if (outcome === null) return { ...common, ...DENIED, reason: reasonOf(feature, situation, at) };
  if (!outcome.allow) {
    const denied = rule === EntitlementSource.OVERRIDE || rule === EntitlementSource.PURCHASE;
    return { ...common, ...DENIED, reason: denied ? EntitlementDenialReason.OVERRIDE_DENY : reasonOf(feature, situation, at) };
  }
  const softLimit = outcome.softLimit ?? feature.softLimit;
  if (feature.kind === EntitlementFeatureKind.METERED) return { ...common, ...metered(outcome.limit, used, softLimit, resetsAt) };
  const value = feature.kind === EntitlementFeatureKind.BOOLEAN ? true : outcome.value;
  return { ...common, ...DENIED, access: EntitlementAccess.GRANTED, reason: null, value };
}

/** What a user has of a feature at an instant. @param usedIn the count of the period that begins then. */
export function resolve(feature: FeatureFacts, situation: Situation, usedIn: (start: Date) => number, at: Date): Resolution {
  const decisive = tried(feature, situation, at).find(one => one.decisive)!;
  const { outcome, rule } = decisive;
  const period = periodOf(outcome?.reset ?? feature.usageReset, at, billingOf(outcome, situation, at));
  const entitlement = answerOf(feature, situation, decisive, usedIn(period.start), period.end, at);
  const own = rule === EntitlementSource.OVERRIDE || rule === EntitlementSource.PURCHASE;
  const softLimit = outcome?.softLimit ?? feature.softLimit;
  const isFallback = situation.isFallback && !own && isTiered(feature, situation);
  return { entitlement, period, softLimit, isFallback, givingTiers: givingTiersOf(feature, situation.grants) };
}

export const earliest = (instants: readonly (Date | null)[]): Date | null =>
  instants.reduce((first, one) => (first === null || (one !== null && one < first) ? one : first), null);

/** The next instant at which time alone may change the answer: an override's edge, a comp's end or that of the period; null: none. */
export function nextEdge(entitlement: Entitlement, { overrides, memberships }: Situation, at: Date): Date | null {
  const comps = (memberships ?? []).filter(one => one.status !== 'LAPSED').map(endOf);
  const edges = [entitlement.resetsAt, ...comps, ...overrides.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt])];
  return earliest(edges.filter(edge => edge !== null && edge > at));
}

/** The short answer. */
export const checkOf = (
  userId: string,
  { entitlement, isFallback, givingTiers }: Pick<Resolution, 'entitlement' | 'isFallback' | 'givingTiers'>,
  validUntil: Date | null,
): EntitlementCheck => ({
  userId,
  givingTiers,
  key: entitlement.key,
  reason: entitlement.reason,
  remaining: entitlement.remaining,
  resetsAt: entitlement.resetsAt,
  validUntil,
  allowed: entitlement.access === EntitlementAccess.GRANTED,
  isFallback,
});

/** Not an error, so that a feature can be asked for before it is made. Source: identity 4. */
export const unknownFeature = (userId: string, key: string): EntitlementCheck => ({
  userId,
  givingTiers: [],
  key,
  allowed: false,
  reason: EntitlementDenialReason.UNKNOWN_FEATURE,
  remaining: null,
  resetsAt: null,
  validUntil: null,
  isFallback: false,
});
