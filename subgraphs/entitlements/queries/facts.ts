import type { Context } from '../../../runtime/request/context.js';
import type { EntitlementCheck, Entitlement } from '../entities/entitlement.js';
import { EntitlementFeature } from '../entities/feature.js';
import { EntitlementOverride } from '../entities/override.js';
import { UsageCounter } from '../entities/usage.js';
import { periodOf } from '../rules/periods.js';
import { checkOf, nextEdge, resolve, unknownFeature } from '../rules/resolution.js';

/** Rows as they are now, not as this request has seen them before. */
const FRESH = { disableIdentityMap: true } as const;

const group = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> => {
  const found = new Map<string, Row[]>();
  for (const row of rows) {
    const list = found.get(keyOf(row));
    if (list) list.push(row);
    else found.set(keyOf(row), [row]);
  }
  return found;
};

interface Held {
  userId: string;
  featureKey: string;
}
const place = ({ userId, featureKey }: Held): string => `${userId} ${featureKey}`;

/** An entitlement with the instant until which it holds by itself. */
export interface Resolved {
  entitlement: Entitlement;
  validUntil: Date | null;
}

/** What is known about some users and features, read with one statement per table, and the answers that follow from it. */
export class Facts {
  readonly #overrides: Map<string, EntitlementOverride[]>;
  readonly #counters: Map<string, UsageCounter[]>;

  private constructor(
    readonly features: readonly EntitlementFeature[],
    overrides: readonly EntitlementOverride[],
    counters: readonly UsageCounter[],
    readonly at: Date,
  ) {
    this.#overrides = group(overrides, place);
    this.#counters = group(counters, place);
  }

  /** @param keys null for all features. */
  static async read(ctx: Context, userIds: readonly string[], keys: readonly string[] | null): Promise<Facts> {
    const at = ctx.now();
    const named = keys ? { key: { $in: [...keys] } } : {};
    const ofUsers = { userId: { $in: [...userIds] }, ...(keys && { featureKey: { $in: [...keys] } }) };
    const features = await ctx.em.find(EntitlementFeature, { ...named, archivedAt: null }, { ...FRESH, orderBy: { key: 'asc' } });
    const lasting = { $or: [{ endsAt: null }, { endsAt: { $gt: at } }] };
    const overrides = await ctx.em.find(EntitlementOverride, { ...ofUsers, ...lasting }, FRESH);
    const counters = await ctx.em.find(UsageCounter, ofUsers, FRESH);
    return new Facts(features, overrides, counters, at);
  }

  #used(feature: EntitlementFeature, userId: string): number {
    const start = periodOf(feature.usageReset, this.at).start.getTime();
    const counters = this.#counters.get(place({ userId, featureKey: feature.key })) ?? [];
    return counters.find(one => one.periodStart.getTime() === start)?.used ?? 0;
  }

  resolve(feature: EntitlementFeature, userId: string): Resolved {
    const overrides = this.#overrides.get(place({ userId, featureKey: feature.key })) ?? [];
    const entitlement = resolve(feature, overrides, this.#used(feature, userId), this.at);
    return { entitlement, validUntil: nextEdge(entitlement, overrides, this.at) };
  }

  check(key: string, userId: string): EntitlementCheck {
    const feature = this.features.find(one => one.key === key);
    if (!feature) return unknownFeature(key);
    const { entitlement, validUntil } = this.resolve(feature, userId);
    return checkOf(entitlement, validUntil);
  }
}
