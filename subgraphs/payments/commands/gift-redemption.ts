import { lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { preparation } from '../../../runtime/request/operation.js';
import { twoPhases } from '../../../runtime/request/two-phase.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { after, SECOND_MS } from '../../../runtime/time/durations.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { BillingSubscriptionStatus as Status } from '../entities/enums-billing.js';
import { GiftKind, GiftStatus } from '../entities/enums-offers.js';
import type { GiftRedemption } from '../entities/gift-answer.js';
import { Gift } from '../entities/gift.js';
import { BillingPrice } from '../entities/price.js';
import { BillingSubscription } from '../entities/subscription.js';
import type { RedeemGiftInput } from '../inputs/gift.js';
import { bookGift, grantGift } from '../ports/gift-partners.js';
import { giftCodeHash } from '../ports/gift-pepper.js';
import { purchaseFacts } from '../ports/purchase-facts.js';
import { isRedeemable, normalizedGiftCode } from '../rules/gift.js';
import { anchoredAt, boundary } from '../rules/periods.js';
import { lockCustomer } from './customer.js';
import { killCode, moveGift } from './gift-settlement.js';
import { takeLimitApart } from './rate-limit.js';
import { extendSubscription, giveSubscription } from './subscription-opening.js';
import { recurrenceOf } from './subscription-state.js';

/** After it, a redemption whose process went away is gone on with by another one. */
export const REDEMPTION_LEASE_MS = 30 * SECOND_MS;

/** Unknown, dead, expired and used codes are told alike. */
const noSuchCode = (): never => fail('not_found', 'There is no such gift');

interface Redeemer {
  userId: string;
  email: string | null;
}

/** Counts the try, whatever comes of it, and asks who redeems. @throws Problem rate_limited. */
export const redeemer = preparation(async (ctx: Context): Promise<Redeemer> => {
  const userId = ctx.caller.userId ?? fail('forbidden', 'A gift is redeemed by a user');
  await takeLimitApart(ctx, 'gift_redeem_user', userId);
  await takeLimitApart(ctx, 'gift_redeem_address', ctx.request.ip);
  const { account } = await purchaseFacts(ctx.host, { clientId: ctx.caller.clientId, userId, places: false });
  return { userId, email: account?.email ?? null };
});

const GOING_BACK = `select 1 from payments.refund where payment_id = $1 and status in ('requires_approval', 'pending', 'requires_action') limit 1`;

/** Whether its price is about to go back, so that a code is never both used and refunded. */
const isGoingBack = async (ctx: Context, { paymentId }: Gift): Promise<boolean> => (await ctx.sql(GOING_BACK, [paymentId])).length > 0;

/** The gift of a code, locked, if this user may have it. One that this user has begun to redeem is gone on with. @throws Problem not_found. */
async function lockGift(ctx: Context, typed: string, userId: string): Promise<Gift> {
  const code = normalizedGiftCode(typed) ?? noSuchCode();
  const gift = await lockRow(ctx, Gift, { codeHash: giftCodeHash(ctx.host, code) }, 'There is no such gift');
  const isTheirs = gift.redeemedById === null || gift.redeemedById === userId;
  if (!isRedeemable(gift.status) || gift.expiresAt <= ctx.now() || !isTheirs) noSuchCode();
  if (await isGoingBack(ctx, gift)) noSuchCode();
  if (gift.settleAt !== null && gift.settleAt > ctx.now())
    fail('conflict', 'This gift is being redeemed', { reason: 'redemption_running' });
  return gift;
}

const LIVE = { $in: [Status.TRIALING, Status.ACTIVE, Status.PAST_DUE, Status.PAUSED] };

/** The member's live subscription of a plan, locked; null for none. */
async function lockLive(ctx: Context, userId: string, price: BillingPrice): Promise<BillingSubscription | null> {
  const subject = { brandId: price.brandId, subjectKind: PriceSubjectKind.MEMBERSHIP_PLAN, subjectId: price.subjectId };
  const found = await ctx.em.findOne(BillingSubscription, { userId, ...subject, status: LIVE });
  return found && lockRow(ctx, BillingSubscription, { id: found.id });
}

interface Covered {
  subscription: BillingSubscription;
  from: Date;
  to: Date;
}

/** What is paused has no end that could move: its banked time grows by the periods, counted from now. */
function bank(ctx: Context, subscription: BillingSubscription, price: BillingPrice, periods: number): Covered {
  const [from, to] = [ctx.now(), boundary(anchoredAt(ctx.now()), recurrenceOf(price), periods)];
  subscription.bankedSeconds += Math.round((to.getTime() - from.getTime()) / SECOND_MS);
  subscription.version += 1;
  return { subscription, from, to };
}

async function extend(ctx: Context, subscription: BillingSubscription, price: BillingPrice, gift: Gift): Promise<Covered> {
  if (subscription.status === Status.PAUSED) return bank(ctx, subscription, price, gift.periods!);
  const from = subscription.currentPeriodEnd;
  await extendSubscription(ctx, subscription, { price, periods: gift.periods!, giftId: gift.id });
  return { subscription, from, to: subscription.currentPeriodEnd };
}

/** A membership of the same plan is extended, else one begins. @throws Problem conflict, `second_membership`, beside one of another plan. */
async function cover(ctx: Context, gift: Gift, { userId, email }: Redeemer, autoRenew: boolean): Promise<Covered> {
  const price = await requireRow(ctx, BillingPrice, { id: gift.priceId! });
  const live = await lockLive(ctx, userId, price);
  if (live) return extend(ctx, live, price, gift);
  const customer = await lockCustomer(ctx, { userId, brandId: gift.brandId, currency: gift.currency, email });
  const subscription = await giveSubscription(ctx, { customer, price, giftId: gift.id, periods: gift.periods!, autoRenew });
  return { subscription, from: subscription.currentPeriodStart, to: subscription.currentPeriodEnd };
}

function redeemed(ctx: Context, gift: Gift): void {
  moveGift(gift, 'redeem');
  gift.redeemedAt = ctx.now();
  killCode(gift);
  ctx.audit('gift.redeemed', gift.id, { kind: gift.kind });
}

/** Transaction 1: the code is taken for this user; a membership is theirs at once, credit when cash has granted it. */
async function take(ctx: Context, input: RedeemGiftInput, who: Redeemer): Promise<string> {
  const gift = await lockGift(ctx, input.code, who.userId);
  Object.assign(gift, { redeemedById: who.userId, settleAt: after(ctx.now(), REDEMPTION_LEASE_MS) });
  if (gift.kind === GiftKind.CREDIT) return gift.id;
  const { subscription, from, to } = await cover(ctx, gift, who, input.autoRenew);
  Object.assign(gift, { subscriptionId: subscription.id, coversFrom: from, coversTo: to });
  redeemed(ctx, gift);
  return gift.id;
}

/** What the neighbours have done for a redemption. */
export interface Settled {
  /** Of credit. */
  cashGrantId: string | null;
  /** Accounting could not be asked; it is asked again. */
  isOwed: boolean;
}

/** Asks cash or accounting, outside transactions; the gift is the key, so that a repeat has one effect. @throws Problem where cash does not answer. */
export async function settleGift(host: ServiceHost, giftId: string): Promise<Settled> {
  const gift = await host.read(ctx => requireRow(ctx, Gift, { id: giftId }));
  if (gift.kind === GiftKind.CREDIT) return { cashGrantId: gift.cashGrantId ?? (await grantGift(host, gift)), isOwed: false };
  const failed = await bookGift(host, gift).then(
    () => null,
    (error: unknown) => error,
  );
  if (failed !== null) host.log.warn({ err: loggedError(failed), gift: giftId }, 'a redeemed gift is not booked yet; it is tried again');
  return { cashGrantId: null, isOwed: failed !== null };
}

/** Transaction 2; again: nothing. */
export async function applySettled(ctx: Context, giftId: string, { cashGrantId, isOwed }: Settled): Promise<Gift> {
  const gift = await lockRow(ctx, Gift, { id: giftId });
  if (gift.settleAt === null) return gift;
  if (!isOwed) gift.settleAt = null;
  if (gift.kind === GiftKind.CREDIT && gift.status !== GiftStatus.REDEEMED) {
    gift.cashGrantId = cashGrantId;
    redeemed(ctx, gift);
  }
  return gift;
}

export const redemption = twoPhases<{ input: RedeemGiftInput }, Settled>({
  intend: (ctx, { input }) => take(ctx, input, redeemer.of(ctx)),
  call: (ctx, { id }) => settleGift(ctx.host, id),
});

/** Transaction 2 of the operation. */
export async function finishRedemption(ctx: Context): Promise<GiftRedemption> {
  const { intent, outcome } = redemption.of(ctx);
  const gift = await applySettled(ctx, intent.id, outcome);
  const subscription = gift.subscriptionId === null ? null : await requireRow(ctx, BillingSubscription, { id: gift.subscriptionId });
  return { gift, subscription, cashGrantId: gift.cashGrantId };
}
