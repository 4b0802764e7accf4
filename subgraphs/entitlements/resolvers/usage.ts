import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { consume, membershipKnown, takeBack } from '../commands/usage.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { METERING } from '../entities/access.js';
import { EntitlementCheck } from '../entities/entitlement.js';
import { ConsumeEntitlementInput, ReturnEntitlementInput } from '../inputs/usage.js';

@Resolver()
export class UsageResolver {
  @Access(METERING)
  @Prepare(membershipKnown)
  @Mutation(() => EntitlementCheck, { description: 'Counts a use, if it may be made: all of it or nothing, and once for each key.' })
  consumeEntitlement(
    @Arg('input', () => ConsumeEntitlementInput) input: ConsumeEntitlementInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementCheck> {
    return consume(ctx, input);
  }

  @Access(METERING)
  @Prepare(membershipKnown)
  @Mutation(() => EntitlementCheck, { description: 'Takes a use of the current period back, once; again it changes nothing.' })
  returnEntitlement(
    @Arg('input', () => ReturnEntitlementInput) input: ReturnEntitlementInput,
    @Ctx() ctx: Context,
  ): Promise<EntitlementCheck> {
    return takeBack(ctx, input);
  }
}
