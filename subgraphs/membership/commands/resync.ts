import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { preparation } from '../../../runtime/request/operation.js';
import { Membership } from '../entities/membership.js';
import { MembershipPlan, MembershipTier } from '../entities/plan.js';
import type { MembershipDifference, MembershipResync } from '../entities/stats.js';
import { subscriptionsOf, type Subscription } from '../ports/payments.js';
import { newestOf } from '../queries/membership.js';
import { Catalogue } from '../rules/catalogue.js';
import { compare, type Billed, type Correction } from '../rules/resync.js';
import { lockMember, record, recordOwn } from './facts.js';
import { refold } from './refold.js';

/** What payments knows of the user, asked before our transaction. */
export const billing = preparation((ctx, { userId }: { userId: string }) => subscriptionsOf(ctx, userId.toLowerCase()));

async function catalogueFor(ctx: Context, planIds: readonly string[]): Promise<Catalogue> {
  const plans = await ctx.em.find(MembershipPlan, { id: { $in: [...planIds] } });
  return new Catalogue(plans, await ctx.em.find(MembershipTier, { planId: { $in: plans.map(plan => plan.id) } }));
}

/** Those of plans that we have; a plan that is not here is nobody's membership. */
function billedOf(subscriptions: readonly Subscription[], catalogue: Catalogue): Billed[] {
  const known = subscriptions.filter(({ price }) => catalogue.planOf(price.subjectId));
  return known.map(one => {
    const { id: tierId, rank } = catalogue.tierOf(one.price.subjectId, one.price.tier);
    const { id, status, source, endedAt, cancelReason, createdAt } = one;
    const period = { periodStart: one.currentPeriodStart, periodEnd: one.currentPeriodEnd };
    const same = { id, status, source, endedAt, cancelReason, createdAt, ...period, tierId, rank };
    return { ...same, planId: one.price.subjectId, tierKey: one.price.tier, overdueInvoice: one.latestInvoice?.id ?? null };
  });
}

async function correct(ctx: Context, userId: string, { kind, subjectId, at, data }: Correction): Promise<void> {
  if (at === null) await recordOwn(ctx, userId, { kind, subjectId, data: data as never });
  else await record(ctx, { id: newId(), kind, userId, subjectId, occurredAt: new Date(at).toISOString(), seq: 0, data: data as never });
}

/** One round: what is created first may differ in more, which the next round sees. */
async function round(ctx: Context, userId: string, subscriptions: readonly Subscription[]): Promise<MembershipDifference[]> {
  const rows = await ctx.em.find(Membership, { userId }, { refresh: true });
  const catalogue = await catalogueFor(ctx, [...rows.map(row => row.planId), ...subscriptions.map(one => one.price.subjectId)]);
  const held = rows.map(row => ({ ...row, rank: catalogue.tier(row.tierId).rank }));
  const { differences, corrections } = compare(billedOf(subscriptions, catalogue), held);
  for (const one of corrections) await correct(ctx, userId, one);
  if (corrections.length) await refold(ctx, userId);
  return differences;
}

/** A subscription that was missing may be paused or past due besides. */
const ROUNDS = 2;

/** Brings a user to what payments knows. Again: nothing differs. Source: membership 4, 9.1. */
export async function resync(ctx: Context, id: string): Promise<MembershipResync> {
  const userId = id.toLowerCase();
  const subscriptions = billing.of(ctx);
  await lockMember(ctx, userId);
  const differences: MembershipDifference[] = [];
  for (let done = 0; done < ROUNDS; done++) differences.push(...(await round(ctx, userId, subscriptions)));
  ctx.audit('membership.resynced', userId, { differences: differences.map(one => one.field) });
  return { memberships: (await newestOf(ctx, [userId]))[0]!, differences };
}
