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
import { periodOf } from './periods.js';

export type FeatureFacts = Pick<EntitlementFeature, 'key' | 'kind' | 'defaultValue' | 'usageReset' | 'softLimit'>;
export type OverrideFacts = Pick<EntitlementOverride, 'id' | 'allow' | 'value' | 'limit' | 'startsAt' | 'endsAt' | 'source' | 'createdAt'>;

/** What one rule says: `value` of a config feature, `limit` of a metered one (null: none). */
interface Said {
  allow: boolean;
  value: unknown;
  limit: number | null;
  endsAt: Date | null;
}

/** SCHEDULED -> ACTIVE at `startsAt` -> ENDED at `endsAt`; one that never begins ends where it would begin. Source: entitlements 3. */
export function stateOf({ startsAt, endsAt }: Pick<OverrideFacts, 'startsAt' | 'endsAt'>, at: Date): EntitlementOverrideState {
  if (endsAt !== null && at >= endsAt) return EntitlementOverrideState.ENDED;
  return at < startsAt ? EntitlementOverrideState.SCHEDULED : EntitlementOverrideState.ACTIVE;
}

/** Newest first; of one instant a denial first, then the higher id, so that the order is total. */
export const newestFirst = (a: OverrideFacts, b: OverrideFacts): number =>
  b.createdAt.getTime() - a.createdAt.getTime() || Number(a.allow) - Number(b.allow) || (a.id < b.id ? 1 : -1);

function newestOf(source: EntitlementSource, overrides: readonly OverrideFacts[], at: Date): Said | null {
  const active = overrides.filter(one => one.source === source && stateOf(one, at) === EntitlementOverrideState.ACTIVE);
  return active.toSorted(newestFirst)[0] ?? null;
}

/** What everybody has: true, a limit, or a value, by kind. */
function defaultOf({ kind, defaultValue }: FeatureFacts): Said | null {
  if (defaultValue === null || (kind === EntitlementFeatureKind.BOOLEAN && defaultValue === false)) return null;
  const limit = kind === EntitlementFeatureKind.METERED ? (defaultValue as number) : null;
  return { allow: true, value: defaultValue, limit, endsAt: null };
}

/** The rules in the order in which they are tried; the first that says something decides. Source: entitlements 3. */
const RULES: readonly {
  rule: EntitlementSource;
  says(feature: FeatureFacts, overrides: readonly OverrideFacts[], at: Date): Said | null;
}[] = [
  { rule: EntitlementSource.OVERRIDE, says: (_feature, overrides, at) => newestOf(EntitlementSource.OVERRIDE, overrides, at) },
  { rule: EntitlementSource.PURCHASE, says: (_feature, overrides, at) => newestOf(EntitlementSource.PURCHASE, overrides, at) },
  { rule: EntitlementSource.DEFAULT, says: feature => defaultOf(feature) },
];

export interface Tried {
  rule: EntitlementSource;
  said: Said | null;
  decisive: boolean;
}

/** Every rule with what it says, in order; also those after the one that decides. */
export function tried(feature: FeatureFacts, overrides: readonly OverrideFacts[], at: Date): Tried[] {
  const all = RULES.map(({ rule, says }) => ({ rule, said: says(feature, overrides, at) }));
  const first = all.findIndex(one => one.said !== null);
  return all.map((one, index) => ({ ...one, decisive: index === (first < 0 ? all.length - 1 : first) }));
}

const DENIED = { access: EntitlementAccess.DENIED, value: null, limit: null, used: null, remaining: null, resetsAt: null } as const;

/** Counts a limit down. At nothing left a hard limit denies; a soft one only says so. Source: entitlements 7.7. */
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
  const { rule, said } = tried(feature, overrides, at).find(one => one.decisive)!;
  const common = { key: feature.key, source: rule, endsAt: said?.endsAt ?? null };
  if (said === null) return { ...common, ...DENIED, reason: EntitlementDenialReason.NOT_IN_TIER };
  if (!said.allow) return { ...common, ...DENIED, reason: EntitlementDenialReason.OVERRIDE_DENY };
  if (feature.kind === EntitlementFeatureKind.METERED) return { ...common, ...metered(feature, said.limit, used, at) };
  const value = feature.kind === EntitlementFeatureKind.BOOLEAN ? true : said.value;
  return { ...common, ...DENIED, access: EntitlementAccess.GRANTED, reason: null, value };
}

/** The next instant at which time alone may change the answer: an override's edge or the end of the period; null: none. */
export function nextEdge(entitlement: Entitlement, overrides: readonly OverrideFacts[], at: Date): Date | null {
  const edges = [entitlement.resetsAt, ...overrides.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt])];
  return earliest(edges.filter(edge => edge !== null && edge > at));
}

export const earliest = (instants: readonly (Date | null)[]): Date | null =>
  instants.reduce((first, one) => (first === null || (one !== null && one < first) ? one : first), null);

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
