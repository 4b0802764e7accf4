import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { addSuppression, removeSuppression } from '../commands/suppressions.js';
import { hashFor } from '../commands/pipeline/decide.js';
import { SUPPRESSORS } from '../entities/access.js';
import { CommsSuppression, CommsSuppressionConnection } from '../entities/suppression.js';
import { AddCommsSuppressionInput, CommsAddressInput, CommsSuppressionsArgs, RemoveCommsSuppressionInput } from '../inputs/suppressions.js';

@Resolver(() => CommsSuppression)
export class SuppressionResolver {
  @Access(SUPPRESSORS)
  @Query(() => CommsSuppressionConnection, { description: 'Addresses that get nothing, or not everything, newest first.' })
  commsSuppressions(
    @Args(() => CommsSuppressionsArgs) { channel, ...paging }: CommsSuppressionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<CommsSuppression>> {
    return page(ctx.em, CommsSuppression, channel ? { channel } : {}, paging, { time: 'createdAt' });
  }

  @Access(SUPPRESSORS)
  @Query(() => [CommsSuppression], {
    description: 'What stops an address. By REST it is asked in a body, because an address is never in a URL.',
  })
  searchCommsSuppressions(
    @Arg('input', () => CommsAddressInput) { channel, address }: CommsAddressInput,
    @Ctx() ctx: Context,
  ): Promise<CommsSuppression[]> {
    return ctx.em.find(CommsSuppression, { channel, addressHash: hashFor(ctx, channel, address) });
  }

  @Access(SUPPRESSORS)
  @Mutation(() => CommsSuppression, { description: 'Stops an address by hand.' })
  addCommsSuppression(
    @Arg('input', () => AddCommsSuppressionInput) input: AddCommsSuppressionInput,
    @Ctx() ctx: Context,
  ): Promise<CommsSuppression> {
    return addSuppression(ctx, input);
  }

  @Access(SUPPRESSORS)
  @Mutation(() => Boolean, { description: 'Lets an address be written to again.' })
  removeCommsSuppression(
    @Arg('input', () => RemoveCommsSuppressionInput) input: RemoveCommsSuppressionInput,
    @Ctx() ctx: Context,
  ): Promise<boolean> {
    return removeSuppression(ctx, input);
  }
}
