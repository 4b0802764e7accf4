import { holdsPermission } from '../../runtime/request/caller.js';
import type { Context } from '../../runtime/request/context.js';
import { isUuid } from '../../runtime/data/ids.js';
import { rowReferences, stubReferences } from '../../runtime/data/references.js';
import type { ReferenceLoader } from '../../runtime/service.js';
import { PLAN_WRITERS, READERS, REWARD_WRITERS } from './entities/access.js';
import { MembershipPlanStatus } from './entities/enums.js';
import { Membership } from './entities/membership.js';
import { MembershipPlan, MembershipTier } from './entities/plan.js';
import { MilestoneRule } from './entities/rewards.js';
import { mayAskAbout, ownRows } from './queries/membership.js';
import { mayAccess, ruleOf } from '../../runtime/access/access.js';

const seesDrafts = ({ caller }: Context): boolean => caller.kind === 'service' || holdsPermission(caller, PLAN_WRITERS.staff);
const shownPlans = (ctx: Context) => (seesDrafts(ctx) ? {} : { status: { $ne: MembershipPlanStatus.DRAFT } });

interface PlanKey {
  id?: string;
  key?: string;
  brandId?: string;
}

/** By id, or by key and brand; drafts for those who write them. */
const plans: ReferenceLoader = async (ctx, references: readonly PlanKey[]) => {
  const ids = references.flatMap(({ id }) => (id && isUuid(id) ? [id.toLowerCase()] : []));
  const keys = references.flatMap(({ key, brandId }) =>
    key && brandId && isUuid(brandId) ? [{ key, brandId: brandId.toLowerCase() }] : [],
  );
  const rows = await ctx.em.find(MembershipPlan, { $and: [{ $or: [{ id: { $in: ids } }, ...keys] }, shownPlans(ctx)] });
  const found = ({ id, key, brandId }: PlanKey) =>
    rows.find(row => (id ? row.id === id.toLowerCase() : row.key === key && row.brandId === brandId?.toLowerCase())) ?? null;
  return references.map(found);
};

const tiers: ReferenceLoader = async (ctx, references: readonly { id: string }[]) => {
  const ids = references.map(({ id }) => id.toLowerCase()).filter(isUuid);
  const rows = await ctx.em.find(MembershipTier, { id: { $in: ids } });
  const shown = await ctx.em.find(MembershipPlan, { $and: [{ id: { $in: rows.map(row => row.planId) } }, shownPlans(ctx)] });
  const visible = rows.filter(row => shown.some(plan => plan.id === row.planId));
  return references.map(({ id }) => visible.find(row => row.id === id.toLowerCase()) ?? null);
};

const milestoneRules: ReferenceLoader = async (ctx, references: readonly { key: string; brandId: string }[]) => {
  if (!mayAccess(ruleOf(REWARD_WRITERS), ctx.caller)) return references.map(() => null);
  const asked = references.filter(({ brandId }) => isUuid(brandId)).map(({ key, brandId }) => ({ key, brandId: brandId.toLowerCase() }));
  const rows = asked.length ? await ctx.em.find(MilestoneRule, { $or: asked }) : [];
  return references.map(({ key, brandId }) => rows.find(row => row.key === key && row.brandId === brandId.toLowerCase()) ?? null);
};

/** Anybody's account may be pointed at by services and staff; a member sees the own one. */
const users: ReferenceLoader = async (ctx, keys: readonly { id: string }[]) => keys.map(({ id }) => (mayAskAbout(ctx, id) ? { id } : null));

/** One batch loader for each type that is resolved by key. */
export const references: Readonly<Record<string, ReferenceLoader>> = {
  Membership: rowReferences(Membership, { readers: READERS, where: ownRows }),
  MembershipPlan: plans,
  MembershipTier: tiers,
  MilestoneRule: milestoneRules,
  User: users,
  Brand: stubReferences,
  BillingSubscription: stubReferences,
  CheckoutSession: stubReferences,
};
