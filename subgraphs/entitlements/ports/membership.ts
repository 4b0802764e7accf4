import type { Context } from '../../../runtime/request/context.js';
import { stored } from '../../../runtime/federation/federation.js';
import type { MembershipFacts } from '../rules/tier.js';

const ASK = stored(`query EntitlementMemberships($userIds: [ID!]!) {
  currentMemberships(userIds: $userIds) {
    id user { id } plan { brandId } tier { id key rank } status source subscriptionId startedAt currentPeriodStart currentPeriodEnd version
  }
}`);

interface Told {
  id: string;
  user: { id: string };
  plan: { brandId: string };
  tier: { id: string; key: string; rank: number };
  status: string;
  source: string;
  subscriptionId: string | null;
  startedAt: string;
  currentPeriodStart: string | null;
  currentPeriodEnd: string | null;
  version: number;
}

/** The memberships of a user, and a number that grows with each change of them. */
export interface Asked {
  memberships: MembershipFacts[];
  versions: number;
}

const instant = (text: string | null): Date | null => (text === null ? null : new Date(text));

const factsOf = ({ id, plan, tier, status, source, subscriptionId, ...times }: Told): MembershipFacts => ({
  id,
  brandId: plan.brandId,
  tierId: tier.id,
  tierKey: tier.key,
  rank: tier.rank,
  status,
  isComp: source === 'COMP' && subscriptionId === null,
  startedAt: new Date(times.startedAt),
  periodStart: instant(times.currentPeriodStart),
  periodEnd: instant(times.currentPeriodEnd),
});

/** Asks membership for the memberships of at most 100 users. @throws Problem where it is not there or does not answer. */
export async function askMemberships(ctx: Context, userIds: readonly string[]): Promise<Map<string, Asked>> {
  const { currentMemberships: told } = await ctx.federation.run<{ currentMemberships: readonly Told[] }>(ASK, { userIds: [...userIds] });
  const of = (userId: string): Asked => {
    const own = told.filter(one => one.user.id === userId);
    return { memberships: own.map(factsOf), versions: own.reduce((sum, one) => sum + one.version, 0) };
  };
  return new Map(userIds.map(userId => [userId, of(userId)]));
}

const PLANS = stored(`query EntitlementPlans($after: String) {
  brands(first: 100) { nodes { id isDefault } }
  adminMembershipPlans(first: 100, after: $after) { nodes { brandId status tiers { id key rank } } pageInfo { endCursor hasNextPage } }
}`);

/** A tier that can be had. */
export interface KnownTier {
  id: string;
  key: string;
  rank: number;
  brandId: string;
  isPublished: boolean;
  ofDefaultBrand: boolean;
}

interface Page {
  brands: { nodes: readonly { id: string; isDefault: boolean }[] };
  adminMembershipPlans: {
    nodes: readonly { brandId: string; status: string; tiers: readonly { id: string; key: string; rank: number }[] }[];
    pageInfo: { endCursor: string | null; hasNextPage: boolean };
  };
}

/** The tiers of all plans, lowest rank first. @throws Problem where membership is not there. */
export async function askTiers(ctx: Context): Promise<KnownTier[]> {
  const found: KnownTier[] = [];
  for (let after: string | null = null; ;) {
    const { brands, adminMembershipPlans: page }: Page = await ctx.federation.run<Page>(PLANS, { after });
    for (const { brandId, status, tiers } of page.nodes) {
      const ofDefaultBrand = brands.nodes.some(brand => brand.id === brandId && brand.isDefault);
      found.push(...tiers.map(({ id, key, rank }) => ({ id, key, rank, brandId, isPublished: status === 'PUBLISHED', ofDefaultBrand })));
    }
    if (!page.pageInfo.hasNextPage) return found.sort((a, b) => a.rank - b.rank);
    after = page.pageInfo.endCursor;
  }
}
