import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Problem } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { TwoPhase } from '../../../runtime/request/two-phase.js';
import { approval, cancellation, payment, payoutApproved, payoutCancelled, payoutMade, rejectPayout } from '../commands/payout.js';
import { staffWith } from '../entities/access.js';
import { Payout, PayoutConnection } from '../entities/payout.js';
import { CreatePayoutInput, PayoutsArgs } from '../inputs/payout.js';

@Resolver(() => Payout)
export class PayoutResolver {
  @Access(staffWith('payout:read'))
  @Query(() => PayoutConnection, { description: 'Payouts, newest first.' })
  payouts(@Args(() => PayoutsArgs) args: PayoutsArgs, @Ctx() ctx: Context): Promise<Connection<Payout>> {
    const { status, userId, ...paging } = args;
    return page(ctx.em, Payout, { ...(status && { status }), ...(userId && { userId }) }, paging, { time: 'createdAt' });
  }

  @Access(staffWith('payout:read'))
  @Query(() => Payout, { nullable: true })
  payout(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Payout | null> {
    return findRow(ctx, Payout, { id });
  }

  @Access(staffWith('payout:write'))
  @TwoPhase(payment)
  @Mutation(() => Payout, {
    description:
      'Pays earnings out; a reference that is known answers with its payout. What staff pay out above the threshold waits for another person.',
  })
  createPayout(@Arg('input', () => CreatePayoutInput) _input: CreatePayoutInput, @Ctx() ctx: Context): Promise<Payout | Problem> {
    return payoutMade(ctx);
  }

  @Access(staffWith('payout:approve'))
  @TwoPhase(approval)
  @Mutation(() => Payout, { description: 'Lets a payout go that somebody else has asked for.' })
  approvePayout(@Arg('id', () => ID) _id: string, @Ctx() ctx: Context): Promise<Payout> {
    return payoutApproved(ctx);
  }

  @Access(staffWith('payout:approve'))
  @Mutation(() => Payout, { description: 'Refuses a payout that somebody else has asked for; its money is free again.' })
  rejectPayout(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Payout> {
    return rejectPayout(ctx, id);
  }

  @Access(staffWith('payout:write'))
  @TwoPhase(cancellation)
  @Mutation(() => Payout, { description: 'Stops a payout that the bank has not taken yet.' })
  cancelPayout(@Arg('id', () => ID) _id: string, @Ctx() ctx: Context): Promise<Payout | Problem> {
    return payoutCancelled(ctx);
  }
}
