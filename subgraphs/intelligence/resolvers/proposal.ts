import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { applyProposal, reviewerIsStaff, reviewProposal } from '../commands/proposal.js';
import { GOVERNORS, READERS } from '../entities/access.js';
import { LoopProposal, LoopProposalConnection } from '../entities/loop.js';
import { ApplyLoopProposalInput, LoopProposalsArgs, ReviewLoopProposalInput } from '../inputs/governance.js';
import { given } from '../rules/values.js';

@Resolver(() => LoopProposal)
export class ProposalResolver {
  @Access(READERS)
  @Query(() => LoopProposalConnection, { description: 'Proposals, newest first; RAISED is the review queue.' })
  loopProposals(
    @Args(() => LoopProposalsArgs) { first, after, ...asked }: LoopProposalsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<LoopProposal>> {
    return page(ctx.em, LoopProposal, given(asked), { first, after }, { time: 'raisedAt' });
  }

  @Access(READERS)
  @Query(() => LoopProposal, { nullable: true })
  loopProposal(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<LoopProposal | null> {
    return findRow(ctx, LoopProposal, { id });
  }

  @Access(GOVERNORS)
  @Prepare(reviewerIsStaff)
  @Mutation(() => LoopProposal, { description: 'A reviewer agrees. Nothing that is served changes yet.' })
  approveLoopProposal(
    @Arg('input', () => ReviewLoopProposalInput) input: ReviewLoopProposalInput,
    @Ctx() ctx: Context,
  ): Promise<LoopProposal> {
    return reviewProposal(ctx, input, 'approve');
  }

  @Access(GOVERNORS)
  @Prepare(reviewerIsStaff)
  @Mutation(() => LoopProposal, { description: 'A reviewer refuses; the same advice is not raised again for a week.' })
  rejectLoopProposal(
    @Arg('input', () => ReviewLoopProposalInput) input: ReviewLoopProposalInput,
    @Ctx() ctx: Context,
  ): Promise<LoopProposal> {
    return reviewProposal(ctx, input, 'reject');
  }

  @Access(GOVERNORS)
  @Mutation(() => LoopProposal, { description: 'Makes the given version the champion and retires the prior one, in one transaction.' })
  applyLoopProposal(@Arg('input', () => ApplyLoopProposalInput) input: ApplyLoopProposalInput, @Ctx() ctx: Context): Promise<LoopProposal> {
    return applyProposal(ctx, input);
  }
}
