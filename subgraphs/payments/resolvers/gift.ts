import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, reachesAll } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { TwoPhase } from '../../../runtime/request/two-phase.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { auditedDelivery, finalizeGift } from '../commands/gift-access.js';
import { finishGiftCheckout, giftCharge } from '../commands/gift-charge.js';
import { giftFacts } from '../commands/gift-checkout.js';
import { finishRedemption, redeemer, redemption } from '../commands/gift-redemption.js';
import { BUYERS, PAYMENT_READERS } from '../entities/access.js';
import { GiftDelivery, GiftRedemption } from '../entities/gift-answer.js';
import { Gift, GiftCheckoutSession } from '../entities/gift.js';
import { hostedUrl } from '../entities/hosted.js';
import { Payment } from '../entities/payment.js';
import { BillingPrice } from '../entities/price.js';
import { CreateGiftCheckoutSessionInput, RedeemGiftInput } from '../inputs/gift.js';
import { codeFor } from '../queries/gift.js';

@Resolver(() => Gift)
export class GiftResolver {
  @Access(BUYERS)
  @Prepare(giftFacts)
  @TwoPhase(giftCharge)
  @Mutation(() => GiftCheckoutSession, { description: 'Begins to buy a gift; with a method it is charged at once, else on the page.' })
  createGiftCheckoutSession(
    @Arg('input', () => CreateGiftCheckoutSessionInput) _input: CreateGiftCheckoutSessionInput,
    @Ctx() ctx: Context,
  ): Promise<GiftCheckoutSession> {
    return finishGiftCheckout(ctx);
  }

  @Access(BUYERS)
  @Mutation(() => GiftCheckoutSession, { description: 'The gift of a paid session, with its code for the purchaser. Again: the same.' })
  finalizeGiftCheckoutSession(@Arg('sessionId', () => ID) sessionId: string, @Ctx() ctx: Context): Promise<GiftCheckoutSession> {
    return finalizeGift(ctx, sessionId);
  }

  @Access({ user: 'manage:subscriptions' })
  @Prepare(redeemer)
  @TwoPhase(redemption)
  @Mutation(() => GiftRedemption, { description: 'Redeems a code, once; ten tries an hour.' })
  redeemGift(@Arg('input', () => RedeemGiftInput) _input: RedeemGiftInput, @Ctx() ctx: Context): Promise<GiftRedemption> {
    return finishRedemption(ctx);
  }

  @Access({ internal: 'comms' })
  @Query(() => GiftDelivery, { description: 'Address and code of a gift that is on its way; every read is audited.' })
  giftDelivery(@Arg('giftId', () => ID) giftId: string, @Ctx() ctx: Context): Promise<GiftDelivery> {
    return auditedDelivery(ctx, giftId);
  }

  @FieldResolver(() => String, { nullable: true, description: 'For the purchaser, until it is redeemed.' })
  code(@Root() gift: Gift, @Ctx() ctx: Context): string | null {
    return codeFor(ctx, gift);
  }

  @FieldResolver(() => BillingPrice, { nullable: true })
  price(@Root() gift: Gift, @Ctx() ctx: Context): Promise<BillingPrice | null> | null {
    return gift.priceId === null ? null : loadRow(ctx, BillingPrice, 'id', gift.priceId);
  }

  @FieldResolver(() => Payment, { nullable: true, description: 'For the purchaser.' })
  payment(@Root() gift: Gift, @Ctx() ctx: Context): Promise<Payment | null> | null {
    const isOthers = !reachesAll(PAYMENT_READERS, ctx.caller) && ctx.caller.userId !== gift.purchaserId;
    return gift.paymentId === null || isOthers ? null : loadRow(ctx, Payment, 'id', gift.paymentId);
  }
}

@Resolver(() => GiftCheckoutSession)
export class GiftCheckoutSessionResolver {
  @FieldResolver(() => Url, { description: 'Page on which the gift is paid.' })
  url(@Root() session: GiftCheckoutSession, @Ctx() ctx: Context): string {
    return hostedUrl(ctx, session) ?? session.returnUrl;
  }

  @FieldResolver(() => Gift, { nullable: true })
  gift(@Root() session: GiftCheckoutSession, @Ctx() ctx: Context): Promise<Gift | null> {
    return loadRow(ctx, Gift, 'id', session.giftId);
  }
}
