import { fail, invalid } from '../../../runtime/request/errors.js';
import type { Context } from '../../../runtime/request/context.js';
import { preparation } from '../../../runtime/request/operation.js';
import { MembershipPlanStatus, MembershipStatus } from '../entities/enums.js';
import type { Membership } from '../entities/membership.js';
import { MembershipPlan, MembershipTier } from '../entities/plan.js';
import type { ChangeMyTierInput, JoinMembershipInput } from '../inputs/membership.js';
import { changePrice, checkout, pricesOf, recurrenceOf, type Price } from '../ports/payments.js';
import { ownMembership } from '../queries/membership.js';
import { requireTier } from '../queries/plan.js';
import type { CheckoutSession } from '../stubs.js';

type Recurrence = NonNullable<Price['recurring']>;

const isCharged = ({ recurring }: Price, wanted: Recurrence): boolean =>
  recurring?.interval === wanted.interval.toUpperCase() && recurring.intervalCount === wanted.intervalCount;

/** The price of a tier; one that names no tier is of the plan's lowest. */
async function priceOf(ctx: Context, tier: MembershipTier, wanted: Recurrence, pointer: string): Promise<Price> {
  const lowest = await ctx.em.findOne(MembershipTier, { planId: tier.planId }, { orderBy: { rank: 'asc' } });
  const prices = await pricesOf(ctx, tier.planId);
  const found = prices.find(price => (price.tier ?? lowest!.key) === tier.key && isCharged(price, wanted));
  return found ?? invalid(pointer, 'has no price');
}

async function wantedTier(ctx: Context, { planId, tierKey }: JoinMembershipInput): Promise<MembershipTier> {
  const plan = await ctx.em.findOne(MembershipPlan, { id: planId.toLowerCase(), status: MembershipPlanStatus.PUBLISHED });
  if (!plan) invalid('/input/planId', 'is no published plan');
  return (await ctx.em.findOne(MembershipTier, { planId: plan.id, key: tierKey })) ?? invalid('/input/tierKey', 'is no tier of the plan');
}

/** Begins the purchase at payments, before our transaction; payments repeats it for the same key. */
export const joined = preparation(async (ctx, { input }: { input: JoinMembershipInput }): Promise<CheckoutSession> => {
  const { interval, intervalCount, promoCode = null, paymentMethodId = null, returnUrl } = input;
  const tier = await wantedTier(ctx, input);
  const { id: priceId } = await priceOf(ctx, tier, { interval, intervalCount }, '/input/interval');
  const purchase = { userId: ctx.caller.userId!, priceId, promoCode, paymentMethodId, returnUrl: String(returnUrl) };
  return checkout(ctx, purchase, ctx.request.idempotencyKey);
});

/** Whatever is bought becomes a membership when payments tells of the subscription. */
export function join(ctx: Context, { planId, tierKey }: JoinMembershipInput): CheckoutSession {
  const session = joined.of(ctx);
  ctx.audit('membership.join_started', ctx.caller.userId, { plan_id: planId, tier: tierKey, checkout_session_id: session.id });
  return session;
}

/** @throws Problem conflict unless it is active and billed. */
function requireChangeable({ status, subscriptionId }: Membership): string {
  if (status !== MembershipStatus.ACTIVE) fail('conflict', `a membership that is ${status} cannot change tier`);
  return subscriptionId ?? fail('conflict', 'A membership without a subscription is changed by staff');
}

/** Asks payments to change what the member pays for, before our transaction. */
export const changing = preparation(async (ctx, { input }: { input: ChangeMyTierInput }): Promise<void> => {
  const own = await ownMembership(ctx, input.brandId ?? null, '/input/brandId');
  const subscriptionId = requireChangeable(own);
  const tier = await requireTier(ctx, own, input.tierKey);
  const recurrence = (await recurrenceOf(ctx, subscriptionId)) ?? fail('conflict', 'The subscription is not there any more');
  const price = await priceOf(ctx, tier, recurrence, '/input/tierKey');
  await changePrice(ctx, subscriptionId, price.id, input.effective.toUpperCase(), ctx.request.idempotencyKey);
});

/** The membership as it stands; it has the tier when payments tells that the change is in effect. */
export async function changeOwnTier(ctx: Context, { tierKey, effective, brandId = null }: ChangeMyTierInput): Promise<Membership> {
  const own = await ownMembership(ctx, brandId, '/input/brandId');
  ctx.audit('membership.tier_change_asked', own.id, { tier: tierKey, effective });
  return own;
}
