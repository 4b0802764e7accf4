import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { destinationSummary, removeDestination, setDestination } from '../commands/payout-destination.js';
import { PAYEES } from '../entities/access.js';
import { PayoutDestination } from '../entities/payout.js';
import { SetPayoutDestinationInput } from '../inputs/payout.js';
import { processorOf } from '../ports/processors.js';

@Resolver(() => PayoutDestination)
export class PayoutDestinationResolver {
  @Access(PAYEES)
  @Query(() => PayoutDestination, { nullable: true, description: 'Where payouts of a user go; null: nowhere yet.' })
  payoutDestination(
    @Arg('userId', () => ID, { nullable: true }) userId: string | null,
    @Ctx() ctx: Context,
  ): Promise<PayoutDestination | null> {
    return findRow(ctx, PayoutDestination, { userId: ctx.subject(userId), processor: processorOf(ctx.host).name });
  }

  @Access(PAYEES)
  @Prepare(destinationSummary)
  @Mutation(() => PayoutDestination, { description: 'Where payouts of a user go from now on.' })
  setPayoutDestination(
    @Arg('input', () => SetPayoutDestinationInput) input: SetPayoutDestinationInput,
    @Ctx() ctx: Context,
  ): Promise<PayoutDestination> {
    return setDestination(ctx, input);
  }

  @Access(PAYEES)
  @Mutation(() => Boolean, { description: 'Payouts of a user go nowhere from now on.' })
  removePayoutDestination(@Arg('userId', () => ID, { nullable: true }) userId: string | null, @Ctx() ctx: Context): Promise<boolean> {
    return removeDestination(ctx, userId);
  }
}
