import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';
import type { CallOptions } from '../../../runtime/federation/federation.js';

/** What the federation answers where no service has the operation; a violation of what was asked names its place. */
const isUnknown = ({ code, options }: Problem): boolean => code === 'internal' || (code === 'invalid_request' && !options.errors?.length);

/**
 * Asks payments as `svc-membership`. A suite without payments does not know the operation: that is a service which is not there.
 * @throws Problem unavailable when it is not there or does not answer; payments' own problem otherwise.
 */
async function ask<Data>(ctx: Context, document: StoredDocument, variables: object, options?: CallOptions): Promise<Data> {
  try {
    return await ctx.federation.run<Data>(document, variables as Record<string, unknown>, options);
  } catch (error) {
    if (error instanceof Problem && isUnknown(error))
      throw new Problem('unavailable', 'payments is not available', { cause: error, reason: 'payments_not_available', retryAfter: 60 });
    throw error;
  }
}

/** A price as payments shows it. */
export interface Price {
  id: string;
  key: string;
  /** Key of the tier that it buys; null: the plan's lowest. */
  tier: string | null;
  active: boolean;
  unitAmount: { amount: number; currency: string };
  recurring: { interval: string; intervalCount: number } | null;
  trialDays: number;
}

const PRICES = 'prices { id key tier active unitAmount { amount currency } recurring { interval intervalCount } trialDays }';

const PRICES_OF_PLAN = stored(`query MembershipPlanPrices($id: ID!) { membershipPlan(id: $id) { id ${PRICES} } }`);
const PRICES_OF_PLANS = stored(
  `query MembershipPlansPrices($brandId: ID, $first: Int, $after: String) { membershipPlans(brandId: $brandId, first: $first, after: $after) { nodes { id ${PRICES} } } }`,
);

interface Priced {
  id: string;
  prices: readonly Price[];
}

/** The active prices of a published plan. */
export async function pricesOf(ctx: Context, planId: string): Promise<readonly Price[]> {
  const { membershipPlan: plan } = await ask<{ membershipPlan: Priced | null }>(ctx, PRICES_OF_PLAN, { id: planId });
  return (plan?.prices ?? []).filter(price => price.active);
}

/** The active prices of a page of published plans, by plan. */
export async function pricesOfPage(
  ctx: Context,
  page: { brandId?: string | null; first: number; after?: string | null },
): Promise<ReadonlyMap<string, readonly Price[]>> {
  const { membershipPlans } = await ask<{ membershipPlans: { nodes: readonly Priced[] } }>(ctx, PRICES_OF_PLANS, page);
  return new Map(membershipPlans.nodes.map(({ id, prices }) => [id, prices.filter(price => price.active)]));
}

const CHECKOUT = stored('mutation MembershipCheckout($input: CreateCheckoutInput!) { createCheckout(input: $input) { id } }');

export interface Purchase {
  userId: string;
  priceId: string;
  promoCode: string | null;
  paymentMethodId: string | null;
  returnUrl: string;
}

/** Begins the purchase of a subscription. @param key of the member's request, which payments repeats. */
export async function checkout(ctx: Context, { priceId, ...purchase }: Purchase, key: string | null): Promise<{ id: string }> {
  const input = { mode: 'SUBSCRIPTION', items: [{ priceId, quantity: 1 }], ...purchase };
  const options = key === null ? {} : { idempotencyKey: `join ${purchase.userId} ${key}` };
  return (await ask<{ createCheckout: { id: string } }>(ctx, CHECKOUT, { input }, options)).createCheckout;
}

const RECURRENCE = stored(
  'query MembershipRecurrence($id: ID!) { billingSubscription(id: $id) { id price { recurring { interval intervalCount } } } }',
);

/** How often a subscription is charged; null: it is not there, or is charged once. */
export async function recurrenceOf(ctx: Context, subscriptionId: string): Promise<Price['recurring']> {
  type Answer = { billingSubscription: { price: Pick<Price, 'recurring'> } | null };
  return (await ask<Answer>(ctx, RECURRENCE, { id: subscriptionId })).billingSubscription?.price.recurring ?? null;
}

const CHANGE = stored(
  'mutation MembershipChangePrice($input: UpdateBillingSubscriptionInput!) { updateBillingSubscription(input: $input) { id } }',
);

/** Changes what a subscription is of. @param effective NOW or PERIOD_END. */
export async function changePrice(ctx: Context, id: string, priceId: string, effective: string, key: string | null): Promise<void> {
  await ask(ctx, CHANGE, { input: { id, priceId, effective } }, key === null ? {} : { idempotencyKey: `tier ${id} ${key}` });
}

const CANCEL = stored(
  'mutation MembershipCancel($input: AdminCancelBillingSubscriptionInput!) { adminCancelBillingSubscription(input: $input) { id } }',
);

/** Ends a subscription at once; one that has ended already is as good. */
export async function cancelSubscription(ctx: Context, id: string): Promise<void> {
  await ask(ctx, CANCEL, { input: { id, at: 'NOW', reason: 'OTHER' } }).catch(error => {
    if (!(error instanceof Problem) || !['conflict', 'not_found'].includes(error.code)) throw error;
  });
}

/** A subscription as payments knows it. */
export interface Subscription {
  id: string;
  /** ACTIVE, TRIALING, PAST_DUE, PAUSED, CANCELLED, … */
  status: string;
  source: string;
  price: { subjectKind: string; subjectId: string; tier: string | null };
  currentPeriodStart: string;
  currentPeriodEnd: string;
  endedAt: string | null;
  cancelReason: string | null;
  createdAt: string;
  latestInvoice: { id: string } | null;
}

const SUBSCRIPTIONS = stored(`query MembershipSubscriptions($userId: ID!) {
  billingSummary(userId: $userId) {
    subscriptions { id status source price { subjectKind subjectId tier } currentPeriodStart currentPeriodEnd endedAt cancelReason createdAt latestInvoice { id } }
  }
}`);

/** The subscriptions of a user that are of plans. */
export async function subscriptionsOf(ctx: Context, userId: string): Promise<readonly Subscription[]> {
  type Answer = { billingSummary: { subscriptions: readonly Subscription[] } };
  const { billingSummary } = await ask<Answer>(ctx, SUBSCRIPTIONS, { userId });
  return billingSummary.subscriptions.filter(one => one.price.subjectKind === 'MEMBERSHIP_PLAN');
}
