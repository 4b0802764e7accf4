import type { Context } from '../../../runtime/request/context.js';
import type { Entitlement, EntitlementCheck, UserEntitlementChecks } from '../entities/entitlement.js';
import { EntitlementFeature } from '../entities/feature.js';
import { EntitlementOverride } from '../entities/override.js';
import { UsageCounter } from '../entities/usage.js';
import { periodOf } from '../rules/periods.js';
import { checkOf, nextEdge, resolve, unknownFeature } from '../rules/resolution.js';

/** Rows as they are now, not as this request has seen them before. */
const FRESH = { disableIdentityMap: true } as const;

/** Whose row it is, and of which feature. */
interface Held {
  userId: string;
  featureKey: string;
}
const keyOf = ({ userId, featureKey }: Held): string => `${userId} ${featureKey}`;

function byUserAndFeature<Row extends Held>(rows: readonly Row[]): Map<string, Row[]> {
  const found = new Map<string, Row[]>();
  for (const row of rows) found.set(keyOf(row), [...(found.get(keyOf(row)) ?? []), row]);
  return found;
}

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
    this.#overrides = byUserAndFeature(overrides);
    this.#counters = byUserAndFeature(counters);
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
    const counters = this.#counters.get(keyOf({ userId, featureKey: feature.key })) ?? [];
    return counters.find(one => one.periodStart.getTime() === start)?.used ?? 0;
  }

  resolve(feature: EntitlementFeature, userId: string): Resolved {
    const overrides = this.#overrides.get(keyOf({ userId, featureKey: feature.key })) ?? [];
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

/** Whether a user may use a feature now. */
export const checkOne = async (ctx: Context, userId: string, key: string): Promise<EntitlementCheck> =>
  (await Facts.read(ctx, [userId], [key])).check(key, userId);

/** Checks of many users and features, in the order of both lists. */
export async function checkMany(ctx: Context, ids: readonly string[], keys: readonly string[]): Promise<UserEntitlementChecks[]> {
  const userIds = ids.map(id => id.toLowerCase());
  const facts = await Facts.read(ctx, userIds, keys);
  return userIds.map(userId => ({ userId, checks: keys.map(key => facts.check(key, userId)) }));
}
