import { fail, invalid, requireValid } from '../../../runtime/request/errors.js';
import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { MembershipPlanStatus, MembershipStatus, TierDirection, type FactKind } from '../entities/enums.js';
import { Membership } from '../entities/membership.js';
import { MembershipPlan, MembershipTier } from '../entities/plan.js';
import type { ChangeMembershipTierInput, GrantMembershipInput, LapseMembershipInput } from '../inputs/membership.js';
import { cancelSubscription } from '../ports/payments.js';
import { requireTier } from '../queries/plan.js';
import type { FactData } from '../rules/facts.js';
import { compViolations, requireStaffAct } from '../rules/plan.js';
import { lockMember, recordOwn } from './facts.js';
import { refold } from './refold.js';

type Act = Parameters<typeof requireStaffAct>[1];

async function lockMembership(ctx: Context, id: string, act: Act): Promise<Membership> {
  const { userId } = await requireRow(ctx, Membership, { id });
  await lockMember(ctx, userId);
  const row = await lockRow(ctx, Membership, { id });
  requireStaffAct(row, act);
  return row;
}

/** Keeps what staff did, and brings the member to it. The reason stays with the fact, where an erasure finds it. */
async function decide<Kind extends `${FactKind}`>(
  ctx: Context,
  row: Membership,
  kind: Kind,
  data: FactData[Kind] & { reason: string | null },
): Promise<Membership> {
  await recordOwn(ctx, row.userId, { kind, brandId: row.brandId, data });
  await refold(ctx, row.userId);
  ctx.audit(`membership.${kind}`, row.id, { status: row.status });
  return row;
}

/** @throws Problem not_found, conflict for one that has lapsed or that staff have suspended. */
export const suspend = async (ctx: Context, id: string, reason: string): Promise<Membership> =>
  decide(ctx, await lockMembership(ctx, id, 'be suspended'), 'staff_suspended', { reason });

/** Takes the reason of staff away, and no other. @throws Problem not_found, conflict where there is none. */
export const unsuspend = async (ctx: Context, id: string, reason: string | null): Promise<Membership> =>
  decide(ctx, await lockMembership(ctx, id, 'be unsuspended'), 'staff_unsuspended', { reason });

/** What bills the member ends first, so that nobody pays for what is over. */
export const unbilled = preparation(async (ctx, { input }: { input: LapseMembershipInput }) => {
  const row = await requireRow(ctx, Membership, { id: input.id });
  requireStaffAct(row, 'be lapsed');
  if (row.subscriptionId !== null) await cancelSubscription(ctx, row.subscriptionId);
  return row.subscriptionId;
});

/** @throws Problem not_found, conflict for one that has lapsed. */
export async function lapse(ctx: Context, { id, reason }: LapseMembershipInput): Promise<Membership> {
  const row = await lockMembership(ctx, id, 'be lapsed');
  if (row.subscriptionId !== unbilled.of(ctx)) fail('conflict', 'It was changed meanwhile', { reason: 'version_conflict' });
  return decide(ctx, row, 'staff_lapsed', { reason });
}

/** @throws Problem not_found, conflict for the tier that it has, invalid_request for one that the brand has not. */
export async function changeTier(ctx: Context, { id, tierKey, reason }: ChangeMembershipTierInput): Promise<Membership> {
  const row = await lockMembership(ctx, id, 'change tier');
  const tier = await requireTier(ctx, row, tierKey);
  const { rank } = await requireRow(ctx, MembershipTier, { id: row.tierId });
  const direction = tier.rank > rank ? TierDirection.UP : TierDirection.DOWN;
  return decide(ctx, row, 'tier_changed', { tier_key: tierKey, tier_id: tier.id, direction, reason });
}

async function grantable(ctx: Context, { planId, tierKey, endsAt = null }: GrantMembershipInput) {
  requireValid(compViolations(endsAt, ctx.now()));
  const plan = await ctx.em.findOne(MembershipPlan, { id: planId.toLowerCase(), status: MembershipPlanStatus.PUBLISHED });
  if (!plan) invalid('/input/planId', 'is no published plan');
  const tier = await ctx.em.findOne(MembershipTier, { planId: plan.id, key: tierKey });
  return { plan, tier: tier ?? invalid('/input/tierKey', 'is no tier of the plan'), endsAt };
}

/** Makes somebody a member for nothing. @throws Problem conflict for a member of the brand, and for a user who is erased. */
export async function grant(ctx: Context, input: GrantMembershipInput): Promise<Membership> {
  const { plan, tier, endsAt } = await grantable(ctx, input);
  const [userId, brandId] = [input.userId.toLowerCase(), plan.brandId];
  await lockMember(ctx, userId);
  const live = { userId, brandId, status: { $ne: MembershipStatus.LAPSED } };
  if (await ctx.em.findOne(Membership, live)) fail('conflict', 'The user is a member of this brand');
  const data = { plan_id: plan.id, tier_id: tier.id, ends_at: endsAt?.toISOString() ?? null, reason: input.reason };
  await recordOwn<'granted'>(ctx, userId, { kind: 'granted', brandId, data });
  await refold(ctx, userId);
  const made = await ctx.em.findOne(Membership, live);
  if (!made) fail('conflict', 'The user is erased');
  ctx.audit('membership.granted', made.id, { plan_id: plan.id, tier: tier.key, ends_at: data.ends_at });
  return made;
}
