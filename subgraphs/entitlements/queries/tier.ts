import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { MINUTE_MS } from '../../../runtime/time/durations.js';
import type { Entitlement, EntitlementCheck } from '../entities/entitlement.js';
import { EntitlementAccess } from '../entities/enums.js';
import { TierFeature, type EntitlementSimulation } from '../entities/tier.js';
import { EntitlementFeature } from '../entities/feature.js';
import { askTiers, type KnownTier } from '../ports/membership.js';
import { compared } from '../rules/simulation.js';
import { isLive, type MembershipFacts } from '../rules/tier.js';
import type { MembershipTier } from '../stubs.js';
import { Facts } from './facts.js';
import { membershipsOf } from './memberships.js';

/** Plans change rarely, and who is denied is denied either way. */
const TIERS_FRESH_MS = MINUTE_MS;
const MOST_UPGRADES = 3;

const tiersByHost = new WeakMap<ServiceHost, { at: number; tiers: readonly KnownTier[] }>();

async function tiersOf(ctx: Context): Promise<readonly KnownTier[]> {
  const [known, now] = [tiersByHost.get(ctx.host), ctx.now().getTime()];
  if (known && now >= known.at && now - known.at < TIERS_FRESH_MS) return known.tiers;
  const tiers = await askTiers(ctx);
  tiersByHost.set(ctx.host, { at: now, tiers });
  return tiers;
}

/** What tiers give, in one statement. */
export async function featuresOfTiers(ctx: Context, tierIds: readonly string[]): Promise<TierFeature[][]> {
  const rows = await ctx.em.find(TierFeature, { tierId: { $in: [...tierIds] } }, { orderBy: { featureKey: 'asc' } });
  const used = await ctx.em.find(EntitlementFeature, { key: { $in: [...new Set(rows.map(row => row.featureKey))] }, archivedAt: null });
  const shown = rows.filter(row => used.some(feature => feature.key === row.featureKey));
  return tierIds.map(id => shown.filter(row => row.tierId === id));
}

const knownOf = async (ctx: Context, ids: readonly string[]) => {
  const known = await membershipsOf(ctx, ids);
  return ids.map(id => known.get(id) ?? null);
};

/** Published tiers of the brands that a user is a member of, else of the default brand; only such as are above the user's. */
function above(tiers: readonly KnownTier[], memberships: readonly MembershipFacts[], at: Date): KnownTier[] {
  const live = memberships.filter(one => isLive(one, at));
  const rankIn = (brandId: string) => live.filter(one => one.brandId === brandId).map(one => one.rank);
  const isAbove = (tier: KnownTier): boolean => {
    const ranks = rankIn(tier.brandId);
    return live.length === 0 ? tier.ofDefaultBrand : ranks.length > 0 && tier.rank > Math.max(...ranks);
  };
  return tiers.filter(tier => tier.isPublished && isAbove(tier));
}

/** Tiers that would allow what is denied, lowest rank first; none where membership is not there. Source: entitlements 9.3. */
export async function upgradesOf(ctx: Context, { allowed, givingTiers, userId }: EntitlementCheck): Promise<MembershipTier[]> {
  if (allowed || givingTiers.length === 0 || ctx.inTransaction) return [];
  try {
    const [tiers, known] = [await tiersOf(ctx), await ctx.load('entitlements.memberships', userId, ids => knownOf(ctx, ids))];
    const found = above(tiers, known?.memberships ?? [], ctx.now()).filter(tier => givingTiers.includes(tier.id));
    return found.slice(0, MOST_UPGRADES).map(({ id }) => ({ id }));
  } catch (error) {
    ctx.log.warn({ err: loggedError(error) }, 'membership could not be asked for tiers');
    return [];
  }
}

/** The memberships of a user with another tier in its brand; whoever is none is a member of it. */
function movedTo(
  { id: tierId, key: tierKey, rank, brandId }: KnownTier,
  memberships: readonly MembershipFacts[],
  at: Date,
): MembershipFacts[] {
  const own = memberships.find(one => one.brandId === brandId && isLive(one, at));
  const fresh = { id: 'simulated', brandId, status: 'ACTIVE', isComp: false, startedAt: at, periodStart: null, periodEnd: null };
  return [...memberships.filter(one => one !== own && one.brandId !== brandId), { ...(own ?? fresh), tierId, tierKey, rank }];
}

/** What a user would gain, lose and have otherwise on another tier. @throws Problem not_found for no tier, unavailable where membership is not there. */
export async function simulate(ctx: Context, userId: string, tierId: string): Promise<EntitlementSimulation> {
  const tier = (await tiersOf(ctx)).find(one => one.id === tierId.toLowerCase()) ?? fail('not_found', 'Not found');
  const facts = await Facts.read(ctx, [userId], null);
  const { memberships } = facts.known(userId);
  if (memberships === null) fail('unavailable', 'membership is not available', { retryAfter: 30 });
  const then = { memberships: movedTo(tier, memberships, facts.at), isFallback: false };
  const pairs = facts.features.map((feature): [Entitlement, Entitlement] => [
    facts.resolve(feature, userId).entitlement,
    facts.resolve(feature, userId, then).entitlement,
  ]);
  return compared(pairs, one => one.access === EntitlementAccess.GRANTED);
}
