import type { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { lockRow, requireVersion } from '../../../runtime/data/rows.js';
import { MembershipPlan, MembershipTier } from '../entities/plan.js';
import type { CreateMembershipPlanInput, MembershipTierInput, UpdateMembershipPlanInput } from '../inputs/plan.js';
import { planAfter, requireSameKeys, tierViolations } from '../rules/plan.js';

const tierOf = (planId: string, { key, name, rank, benefits, featureKeys }: MembershipTierInput) => ({
  planId,
  key,
  name,
  rank,
  benefits: benefits.map(({ value = null, ...benefit }) => ({ ...benefit, value })),
  featureKeys: [...new Set(featureKeys)],
});

/** @throws Problem invalid_request naming what is wrong, conflict for a key that is taken. */
export async function createPlan(ctx: Context, input: CreateMembershipPlanInput): Promise<MembershipPlan> {
  const { tiers, description = null, brandId, ...given } = input;
  requireValid(tierViolations(tiers));
  const plan = Object.assign(new MembershipPlan(), given, { description, brandId: brandId.toLowerCase(), createdAt: ctx.now() });
  if (await ctx.em.findOne(MembershipPlan, { brandId: plan.brandId, key: plan.key })) fail('conflict', 'A plan with this key exists');
  await ctx.em.persist(plan).flush();
  ctx.em.persist(tiers.map(tier => Object.assign(new MembershipTier(), tierOf(plan.id, tier))));
  ctx.audit('membership_plan.created', plan.id, { key: plan.key, brand_id: plan.brandId });
  return plan;
}

/** Tiers are matched by key, so that members and features keep theirs. */
async function writeTiers(ctx: Context, plan: MembershipPlan, wanted: readonly MembershipTierInput[]): Promise<void> {
  requireValid(tierViolations(wanted));
  const stored = await ctx.em.find(MembershipTier, { planId: plan.id });
  requireSameKeys(plan.status, stored, wanted);
  ctx.em.remove(stored.filter(tier => !wanted.some(({ key }) => key === tier.key)));
  for (const one of wanted) {
    const tier = stored.find(({ key }) => key === one.key) ?? new MembershipTier();
    ctx.em.persist(Object.assign(tier, tierOf(plan.id, one)));
  }
}

/** @throws Problem not_found; conflict for other tier keys than a published plan has, or a version that is not the current one. */
export async function updatePlan(ctx: Context, input: UpdateMembershipPlanInput): Promise<MembershipPlan> {
  const plan = await lockRow(ctx, MembershipPlan, { id: input.id });
  requireVersion(plan, input.version);
  const { name, description, graceDays, tiers } = input;
  if (tiers) await writeTiers(ctx, plan, tiers);
  const given = {
    ...(name != null && { name }),
    ...(description !== undefined && { description }),
    ...(graceDays != null && { graceDays }),
  };
  Object.assign(plan, given, { version: plan.version + 1 });
  ctx.audit('membership_plan.updated', plan.id, { fields: [...Object.keys(given), ...(tiers ? ['tiers'] : [])] });
  return plan;
}

/** DRAFT -> PUBLISHED -> RETIRED. @throws Problem not_found, conflict for another state. */
export async function turnPlan(ctx: Context, id: string, trigger: 'publish' | 'retire'): Promise<MembershipPlan> {
  const plan = await lockRow(ctx, MembershipPlan, { id });
  plan.status = planAfter(plan.status, trigger);
  plan.version++;
  ctx.audit(`membership_plan.${plan.status}`, id);
  return plan;
}
