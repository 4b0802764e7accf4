import type { Context } from '../../../runtime/request/context.js';
import type { EntitlementCheck, UserEntitlementChecks } from '../entities/entitlement.js';
import { EntitlementFeatureKind } from '../entities/enums.js';
import { EntitlementFeature } from '../entities/feature.js';
import { EntitlementOverride } from '../entities/override.js';
import { TierFeature } from '../entities/tier.js';
import { UsageCounter } from '../entities/usage.js';
import { memoryOf } from '../ports/memory.js';
import { checkOf, nextEdge, resolve, tried, unknownFeature, type Resolution, type Situation, type Tried } from '../rules/resolution.js';
import { BUILT_IN } from '../rules/tier.js';
import { membershipsOf, type Known } from './memberships.js';

/** Rows as they are now, not as this request has seen them before. */
const FRESH = { disableIdentityMap: true } as const;

/** Whose row it is, and of which feature. */
interface Held {
  userId: string;
  featureKey: string;
}
const keyOf = ({ userId, featureKey }: Held): string => `${userId} ${featureKey}`;

function grouped<Row>(rows: readonly Row[], groupOf: (row: Row) => string): Map<string, Row[]> {
  const found = new Map<string, Row[]>();
  for (const row of rows) {
    const group = found.get(groupOf(row));
    if (group) group.push(row);
    else found.set(groupOf(row), [row]);
  }
  return found;
}

/** An entitlement with the instant until which it holds by itself. */
export interface Resolved extends Resolution {
  validUntil: Date | null;
}

interface Rows {
  features: readonly EntitlementFeature[];
  tierFeatures: readonly TierFeature[];
  overrides: readonly EntitlementOverride[];
  counters: readonly UsageCounter[];
  known: ReadonlyMap<string, Known>;
}

const NOTHING: Known = { memberships: [], isFallback: false };

/** What is known about some users and features, read with one statement per table, and the answers that follow from it. */
export class Facts {
  readonly features: readonly EntitlementFeature[];
  readonly #byKey: ReadonlyMap<string, EntitlementFeature>;
  readonly #grants: Map<string, TierFeature[]>;
  readonly #overrides: Map<string, EntitlementOverride[]>;
  readonly #counters: Map<string, UsageCounter[]>;
  readonly #known: ReadonlyMap<string, Known>;

  private constructor(
    { features, tierFeatures, overrides, counters, known }: Rows,
    readonly at: Date,
  ) {
    this.features = features;
    this.#byKey = new Map(features.map(feature => [feature.key, feature]));
    this.#grants = grouped(tierFeatures, one => one.featureKey);
    this.#overrides = grouped(overrides, keyOf);
    this.#counters = grouped(counters, keyOf);
    this.#known = known;
  }

  /** @param keys null for all features. */
  static async read(ctx: Context, userIds: readonly string[], keys: readonly string[] | null): Promise<Facts> {
    const at = ctx.now();
    const named = keys ? { key: { $in: [...keys] } } : {};
    const ofFeatures = keys ? { featureKey: { $in: [...keys] } } : {};
    const ofUsers = { userId: { $in: [...userIds] }, ...ofFeatures };
    const tierFeatures = await ctx.em.find(TierFeature, ofFeatures, FRESH);
    const tiered = tierFeatures.length > 0 || !keys || keys.includes(BUILT_IN);
    const known = tiered ? await membershipsOf(ctx, userIds) : new Map<string, Known>();
    const features = await ctx.em.find(EntitlementFeature, { ...named, archivedAt: null }, { ...FRESH, orderBy: { key: 'asc' } });
    const lasting = { $or: [{ endsAt: null }, { endsAt: { $gt: at } }] };
    const overrides = await ctx.em.find(EntitlementOverride, { ...ofUsers, ...lasting }, FRESH);
    const counters = await ctx.em.find(UsageCounter, ofUsers, FRESH);
    return new Facts({ features, tierFeatures, overrides, counters, known }, at);
  }

  #situation(feature: EntitlementFeature, userId: string, known = this.#known.get(userId) ?? NOTHING): Situation {
    const overrides = this.#overrides.get(keyOf({ userId, featureKey: feature.key })) ?? [];
    return { overrides, grants: this.#grants.get(feature.key) ?? [], ...known };
  }

  #usedIn(feature: EntitlementFeature, userId: string): (start: Date) => number {
    const counters = this.#counters.get(keyOf({ userId, featureKey: feature.key })) ?? [];
    return start => counters.find(one => one.periodStart.getTime() === start.getTime())?.used ?? 0;
  }

  /** What is known of a user's memberships. */
  known(userId: string): Known {
    return this.#known.get(userId) ?? NOTHING;
  }

  /** @param known other memberships than the user has. */
  resolve(feature: EntitlementFeature, userId: string, known?: Known): Resolved {
    const situation = this.#situation(feature, userId, known);
    const resolution = resolve(feature, situation, this.#usedIn(feature, userId), this.at);
    return { ...resolution, validUntil: nextEdge(resolution.entitlement, situation, this.at) };
  }

  tried(feature: EntitlementFeature, userId: string, overrides: readonly EntitlementOverride[]): Tried[] {
    return tried(feature, { ...this.#situation(feature, userId), overrides }, this.at);
  }

  check(key: string, userId: string): EntitlementCheck {
    const feature = this.#byKey.get(key);
    if (!feature) return unknownFeature(userId, key);
    const resolved = this.resolve(feature, userId);
    return checkOf(userId, resolved, resolved.validUntil);
  }
}

/** Remainders change with each use, so they are read each time; an answer while membership is not there is kept by nobody. */
const mayBeKept = (facts: Facts, { isFallback, key }: EntitlementCheck): boolean =>
  !isFallback && facts.features.find(one => one.key === key)?.kind !== EntitlementFeatureKind.METERED;

/** Whether a user may use a feature now. */
export async function checkOne(ctx: Context, userId: string, key: string): Promise<EntitlementCheck> {
  const memory = memoryOf(ctx.host);
  const now = ctx.now().getTime();
  const kept = memory.check(userId, key, now);
  if (kept) return kept;
  const mark = memory.mark();
  const facts = await Facts.read(ctx, [userId], [key]);
  const check = facts.check(key, userId);
  if (mayBeKept(facts, check)) memory.keepCheck(userId, check, now, mark);
  return check;
}

/** Checks of many users and features, in the order of both lists. */
export async function checkMany(ctx: Context, ids: readonly string[], keys: readonly string[]): Promise<UserEntitlementChecks[]> {
  const userIds = ids.map(id => id.toLowerCase());
  const facts = await Facts.read(ctx, [...new Set(userIds)], keys);
  return userIds.map(userId => ({ userId, checks: keys.map(key => facts.check(key, userId)) }));
}
