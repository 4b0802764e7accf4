import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { approvalGate, approveChange, rejectChange } from '../commands/flag-change.js';
import { APPROVERS } from '../entities/access.js';
import { FlagChange, FlagChangeConnection } from '../entities/flag-change.js';
import { FeatureFlag } from '../entities/flag.js';
import { RejectFlagChangeInput } from '../inputs/flag.js';
import { FlagChangesArgs } from '../inputs/lists.js';

@Resolver(() => FlagChange)
export class FlagChangeResolver {
  @Access(APPROVERS)
  @Query(() => FlagChangeConnection, { nullable: true, description: 'Changes of a flag, newest first.' })
  async flagChanges(
    @Args(() => FlagChangesArgs) { key, status, ...paging }: FlagChangesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<FlagChange> | null> {
    if (!(await ctx.em.findOne(FeatureFlag, { key }))) return null;
    return page(ctx.em, FlagChange, { flagKey: key, ...(status && { status }) }, paging, { time: 'createdAt' });
  }

  @Access(APPROVERS)
  @Prepare(approvalGate)
  @Mutation(() => FlagChange, {
    description:
      "Approves somebody else's change: it applies, or waits for its time. A change that a service asked for needs two approvals.",
  })
  approveFlagChange(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<FlagChange> {
    return approveChange(ctx, id);
  }

  @Access(APPROVERS)
  @Mutation(() => FlagChange)
  rejectFlagChange(@Arg('input', () => RejectFlagChangeInput) input: RejectFlagChangeInput, @Ctx() ctx: Context): Promise<FlagChange> {
    return rejectChange(ctx, input);
  }
}
