import type { Entitlement, EntitlementCheck } from '../entities/entitlement.js';
import type { EntitlementFeature } from '../entities/feature.js';
import type { EntitlementOverride } from '../entities/override.js';
import {
  EntitlementAccess,
  EntitlementDenialReason,
  EntitlementFeatureKind,
  EntitlementOverrideState,
  EntitlementSource,
} from '../entities/enums.js';
import { newestFirst, stateOf } from './override.js';
import { periodOf } from './periods.js';

export type FeatureFacts = Pick<EntitlementFeature, 'key' | 'kind' | 'defaultValue' | 'usageReset' | 'softLimit'>;
export type OverrideFacts = Pick<EntitlementOverride, 'id' | 'allow' | 'value' | 'limit' | 'startsAt' | 'endsAt' | 'source' | 'createdAt'>;

/** What one rule decides: `value` of a config feature, `limit` of a metered one (null: none). */
interface Outcome {
  allow: boolean;
  value: unknown;
  limit: number | null;
  endsAt: Date | null;
}

type Rule = (feature: FeatureFacts, overrides: readonly OverrideFacts[], at: Date) => Outcome | null;

const newestOf =
  (source: EntitlementSource): Rule =>
  (_feature, overrides, at) => {
    const active = overrides.filter(one => one.source === source && stateOf(one, at) === EntitlementOverrideState.ACTIVE);
    return active.toSorted(newestFirst)[0] ?? null;
  };

/** What everybody has: true, a limit, or a value, by kind. */
function defaultOf({ kind, defaultValue }: FeatureFacts): Outcome | null {
  if (defaultValue === null || (kind === EntitlementFeatureKind.BOOLEAN && defaultValue === false)) return null;
  const limit = kind === EntitlementFeatureKind.METERED ? (defaultValue as number) : null;
  return { allow: true, value: defaultValue, limit, endsAt: null };
}

/** The rules in the order in which they are tried; the first with an outcome decides. Source: entitlements 3. */
const RULES: readonly { rule: EntitlementSource; decide: Rule }[] = [
  { rule: EntitlementSource.OVERRIDE, decide: newestOf(EntitlementSource.OVERRIDE) },
  { rule: EntitlementSource.PURCHASE, decide: newestOf(EntitlementSource.PURCHASE) },
  { rule: EntitlementSource.DEFAULT, decide: defaultOf },
];

export interface Tried {
  rule: EntitlementSource;
  /** Null: the rule does not apply. */
  outcome: Outcome | null;
  decisive: boolean;
}

/** Every rule with its outcome, in order, also those after the one that decides; the last one decides where none has an outcome. */
export function tried(feature: FeatureFacts, overrides: readonly OverrideFacts[], at: Date): Tried[] {
  const all = RULES.map(({ rule, decide }) => ({ rule, outcome: decide(feature, overrides, at) }));
  const first = all.findIndex(one => one.outcome !== null);
  return all.map((one, index) => ({ ...one, decisive: index === (first < 0 ? all.length - 1 : first) }));
}

const DENIED = { access: EntitlementAccess.DENIED, value: null, limit: null, used: null, remaining: null, resetsAt: null } as const;

/** Counts a limit down. At nothing left a hard limit denies; a soft one is only shown. Source: entitlements 7.7. */
function metered(feature: FeatureFacts, limit: number | null, used: number, at: Date) {
  const remaining = limit === null ? null : Math.max(0, limit - used);
  const reached = remaining === 0 && !feature.softLimit;
  return {
    access: reached ? EntitlementAccess.LIMIT_REACHED : EntitlementAccess.GRANTED,
    reason: reached ? EntitlementDenialReason.LIMIT_REACHED : null,
    value: null,
    limit,
    used,
    remaining,
    resetsAt: periodOf(feature.usageReset, at).end,
  };
}

/** What a user has of a feature at an instant. `used` is the count of the period that the instant lies in. */
export function resolve(feature: FeatureFacts, overrides: readonly OverrideFacts[], used: number, at: Date): Entitlement {
  const { rule, outcome } = tried(feature, overrides, at).find(one => one.decisive)!;
  const common = { key: feature.key, source: rule, endsAt: outcome?.endsAt ?? null };
  if (outcome === null) return { ...common, ...DENIED, reason: EntitlementDenialReason.NOT_IN_TIER };
  if (!outcome.allow) return { ...common, ...DENIED, reason: EntitlementDenialReason.OVERRIDE_DENY };
  if (feature.kind === EntitlementFeatureKind.METERED) return { ...common, ...metered(feature, outcome.limit, used, at) };
  const value = feature.kind === EntitlementFeatureKind.BOOLEAN ? true : outcome.value;
  return { ...common, ...DENIED, access: EntitlementAccess.GRANTED, reason: null, value };
}

export const earliest = (instants: readonly (Date | null)[]): Date | null =>
  instants.reduce((first, one) => (first === null || (one !== null && one < first) ? one : first), null);

/** The next instant at which time alone may change the answer: an override's edge or the end of the period; null: none. */
export function nextEdge(entitlement: Entitlement, overrides: readonly OverrideFacts[], at: Date): Date | null {
  const edges = [entitlement.resetsAt, ...overrides.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt])];
  return earliest(edges.filter(edge => edge !== null && edge > at));
}

/** The short answer. */
export const checkOf = ({ key, access, reason, remaining, resetsAt }: Entitlement, validUntil: Date | null): EntitlementCheck => ({
  key,
  reason,
  remaining,
  resetsAt,
  validUntil,
  allowed: access === EntitlementAccess.GRANTED,
  isFallback: false,
});

/** Not an error, so that a feature can be asked for before it is made. Source: identity 4. */
export const unknownFeature = (key: string): EntitlementCheck => ({
  key,
  allowed: false,
  reason: EntitlementDenialReason.UNKNOWN_FEATURE,
  remaining: null,
  resetsAt: null,
  validUntil: null,
  isFallback: false,
});
