import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { findRow } from '../../../runtime/data/rows.js';
import { MembershipPlanStatus } from '../entities/enums.js';
import { MembershipPlan, MembershipTier, type MembershipPlanPrice } from '../entities/plan.js';
import { MembershipPlanInclude, type AdminPlansArgs, type PublicPlansArgs } from '../inputs/plan.js';
import { pricesOf, pricesOfPage, type Price } from '../ports/payments.js';
import { Catalogue, UnknownPlan } from '../rules/catalogue.js';

const KEYSET = { time: 'createdAt', direction: 'asc' } as const;

const shown = ({ id, key, tier, unitAmount, recurring, trialDays }: Price): MembershipPlanPrice => ({
  id,
  key,
  tier,
  unitAmount,
  recurring: recurring && { interval: recurring.interval.toLowerCase(), intervalCount: recurring.intervalCount },
  trialDays,
});

const wantsPrices = (include: readonly MembershipPlanInclude[] | null | undefined): boolean =>
  include?.includes(MembershipPlanInclude.PRICES) ?? false;

/** Plans that can be bought, oldest first. */
export async function publicPlans(ctx: Context, { brandId, include, ...paging }: PublicPlansArgs): Promise<Connection<MembershipPlan>> {
  const where = { status: MembershipPlanStatus.PUBLISHED, ...(brandId && { brandId: brandId.toLowerCase() }) };
  const found = await page(ctx.em, MembershipPlan, where, paging, KEYSET);
  if (!wantsPrices(include) || found.nodes.length === 0) return found;
  const prices = await pricesOfPage(ctx, { brandId, ...paging });
  for (const plan of found.nodes) plan.includedPrices = (prices.get(plan.id) ?? []).map(shown);
  return found;
}

/** A plan that can be bought; null: there is none. */
export async function publicPlan(ctx: Context, id: string, include: MembershipPlanInclude[] | null): Promise<MembershipPlan | null> {
  const plan = await findRow(ctx, MembershipPlan, { id, status: MembershipPlanStatus.PUBLISHED });
  if (plan && wantsPrices(include)) plan.includedPrices = (await pricesOf(ctx, plan.id)).map(shown);
  return plan;
}

/** Plans of every state, newest first. */
export function adminPlans(ctx: Context, { brandId, status, ...paging }: AdminPlansArgs): Promise<Connection<MembershipPlan>> {
  const where = { ...(status && { status }), ...(brandId && { brandId: brandId.toLowerCase() }) };
  return page(ctx.em, MembershipPlan, where, paging, { time: 'createdAt' });
}

/** The tiers of some plans, lowest rank first, in one statement. */
export async function tiersOf(ctx: Context, planIds: readonly string[]): Promise<MembershipTier[][]> {
  const rows = await ctx.em.find(MembershipTier, { planId: { $in: [...planIds] } }, { orderBy: { rank: 'asc' } });
  return planIds.map(id => rows.filter(row => row.planId === id));
}

/**
 * The tier that a member goes to: of the own plan, else of another one of the brand.
 * @throws Problem invalid_request for a key that no plan of the brand has, conflict for the tier that the member has.
 */
export async function requireTier(
  ctx: Context,
  { brandId, planId, tierId }: { brandId: string; planId: string; tierId: string },
  key: string,
): Promise<MembershipTier> {
  const plans = await ctx.em.find(MembershipPlan, { brandId, status: { $ne: MembershipPlanStatus.DRAFT } });
  const open = plans.filter(plan => plan.id === planId || plan.status === MembershipPlanStatus.PUBLISHED);
  const tiers = await ctx.em.find(MembershipTier, { planId: { $in: open.map(plan => plan.id) } });
  const found = reachable(new Catalogue(open, tiers), planId, key) ?? invalid('/input/tierKey', 'is no tier of this brand');
  if (found.id === tierId) fail('conflict', 'The member is on this tier already');
  return tiers.find(tier => tier.id === found.id)!;
}

function reachable(catalogue: Catalogue, planId: string, key: string): { id: string } | null {
  try {
    return catalogue.tierFrom(planId, key);
  } catch (error) {
    if (error instanceof UnknownPlan) return null;
    throw error;
  }
}
