import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { Money } from '../../../runtime/schema/scalars.js';
import { startPayoutRun } from '../commands/payouts.js';
import { postDueByHand, releaseCommission, reverseCommission } from '../commands/posting.js';
import { PAYERS, READERS, SEEN, SELF, WRITERS } from '../entities/access.js';
import { Affiliate } from '../entities/affiliate.js';
import { AffiliateAttribution } from '../entities/attribution.js';
import {
  AffiliateFraudSignal,
  AffiliateFraudSignalConnection,
  AffiliatePayout,
  AffiliatePayoutConnection,
  Commission,
  CommissionConnection,
  CommissionPosting,
  CommissionReversal,
  PostingRun,
} from '../entities/commission.js';
import { CommissionStatus } from '../entities/enums.js';
import {
  CommissionsArgs,
  MyCommissionsArgs,
  PostDueCommissionsArgs,
  ReverseCommissionInput,
  RunAffiliatePayoutsInput,
} from '../inputs/commission.js';
import { loadFigures } from '../queries/figures.js';
import { commissionsPage, ownIds, payoutsPage, reversalsOf, signalsPage } from '../queries/lists.js';

@Resolver(() => Commission)
export class CommissionResolver {
  @Access(SELF)
  @Query(() => CommissionConnection, { description: 'The own commissions, newest first.' })
  async myCommissions(@Args(() => MyCommissionsArgs) args: MyCommissionsArgs, @Ctx() ctx: Context): Promise<Connection<Commission>> {
    return commissionsPage(ctx, { ...args, affiliateIds: await ownIds(ctx) });
  }

  @Access(READERS)
  @Query(() => CommissionConnection, { description: 'Commissions, newest first.' })
  commissions(
    @Args(() => CommissionsArgs) { affiliateId, ...args }: CommissionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<Commission>> {
    return commissionsPage(ctx, { ...args, affiliateIds: affiliateId ? [affiliateId] : null });
  }

  @Access(READERS)
  @Query(() => Commission, { nullable: true })
  commission(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Commission | null> {
    return findRow(ctx, Commission, { id });
  }

  @Access(WRITERS)
  @Mutation(() => Commission, { description: 'Takes back a part of a commission, or all that is left.' })
  reverseCommission(@Arg('input', () => ReverseCommissionInput) input: ReverseCommissionInput, @Ctx() ctx: Context): Promise<Commission> {
    return reverseCommission(ctx, input);
  }

  @Access(WRITERS)
  @Mutation(() => Commission, { description: 'Lets a held commission go.' })
  releaseCommission(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Commission> {
    return releaseCommission(ctx, id);
  }

  @OwnTransactions('what is posted is not posted again')
  @Access(PAYERS)
  @Mutation(() => CommissionPosting, { description: 'Posts what is due, without waiting for the timer.' })
  postDueCommissions(@Args(() => PostDueCommissionsArgs) args: PostDueCommissionsArgs, @Ctx() ctx: Context): Promise<CommissionPosting> {
    return postDueByHand(ctx, args);
  }

  @Access(SEEN)
  @FieldResolver(() => CommissionStatus)
  async status(@Root() { id }: Commission, @Ctx() ctx: Context): Promise<CommissionStatus> {
    return (await figuresFor(ctx, id)).status;
  }

  @Access(SEEN)
  @FieldResolver(() => Money, { description: 'Taken back so far.' })
  async reversedAmount(@Root() { id, currency }: Commission, @Ctx() ctx: Context): Promise<Money> {
    return { amount: (await figuresFor(ctx, id)).reversed, currency };
  }

  @Access(SEEN)
  @FieldResolver(() => Money, { description: 'What is left of it.' })
  async net(@Root() { id, currency }: Commission, @Ctx() ctx: Context): Promise<Money> {
    return { amount: (await figuresFor(ctx, id)).net, currency };
  }

  @Access(SEEN)
  @FieldResolver(() => [CommissionReversal], { description: 'Oldest first.' })
  reversals(@Root() { id }: Commission, @Ctx() ctx: Context): Promise<CommissionReversal[]> {
    return reversalsOf(ctx, id);
  }

  @Access(SEEN)
  @FieldResolver(() => Affiliate)
  async affiliate(@Root() { affiliateId }: Commission, @Ctx() ctx: Context): Promise<Affiliate> {
    return (await loadRow(ctx, Affiliate, 'id', affiliateId))!;
  }

  @Access(READERS)
  @FieldResolver(() => AffiliateAttribution, { description: 'For staff and services: by it amounts would be those of single customers.' })
  async attribution(@Root() { attributionId }: Commission, @Ctx() ctx: Context): Promise<AffiliateAttribution> {
    return (await loadRow(ctx, AffiliateAttribution, 'id', attributionId))!;
  }
}

/** In a mutation what it wrote is to be seen first. */
async function figuresFor(ctx: Context, id: string) {
  if (ctx.inTransaction) await ctx.em.flush();
  return loadFigures(ctx, id);
}

@Resolver(() => CommissionReversal)
export class ReversalResolver {
  @Access(SEEN)
  @FieldResolver(() => Money, { description: 'Below 0 where it gives back.' })
  async amount(@Root() { commissionId, units }: CommissionReversal, @Ctx() ctx: Context): Promise<Money> {
    return { amount: units, currency: (await loadRow(ctx, Commission, 'id', commissionId))!.currency };
  }
}

@Resolver(() => AffiliatePayout)
export class PayoutResolver {
  @Access(SELF)
  @Query(() => AffiliatePayoutConnection, { description: 'The own payouts, newest first.' })
  myAffiliatePayouts(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<AffiliatePayout>> {
    return payoutsPage(ctx, args);
  }

  @Access(PAYERS)
  @Mutation(() => PostingRun, { description: 'Pays what is owed to whoever can be paid.' })
  runAffiliatePayouts(
    @Arg('input', () => RunAffiliatePayoutsInput) input: RunAffiliatePayoutsInput,
    @Ctx() ctx: Context,
  ): Promise<PostingRun> {
    return startPayoutRun(ctx, input);
  }
}

@Resolver(() => AffiliateFraudSignal)
export class FraudSignalResolver {
  @Access(READERS)
  @Query(() => AffiliateFraudSignalConnection, { description: 'Reasons to look at commissions, newest first.' })
  affiliateFraudSignals(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<AffiliateFraudSignal>> {
    return signalsPage(ctx, args);
  }

  @Access(READERS)
  @FieldResolver(() => Affiliate)
  async affiliate(@Root() { affiliateId }: AffiliateFraudSignal, @Ctx() ctx: Context): Promise<Affiliate> {
    return (await loadRow(ctx, Affiliate, 'id', affiliateId))!;
  }
}
