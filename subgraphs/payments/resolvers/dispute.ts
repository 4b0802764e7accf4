import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import type { Problem } from '../../../runtime/request/errors.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { TwoPhase } from '../../../runtime/request/two-phase.js';
import { acceptance, disputeAccepted, evidence, evidenceSubmitted } from '../commands/dispute-response.js';
import { staffWith, VIEWERS } from '../entities/access.js';
import { Dispute, DisputeConnection } from '../entities/dispute.js';
import { Payment } from '../entities/payment.js';
import { DisputesArgs, SubmitDisputeEvidenceInput } from '../inputs/dispute.js';

@Resolver(() => Dispute)
export class DisputeResolver {
  @Access(staffWith('dispute:read'))
  @Query(() => DisputeConnection, { description: 'Disputes, those whose evidence is due soonest first.' })
  disputes(@Args(() => DisputesArgs) args: DisputesArgs, @Ctx() ctx: Context): Promise<Connection<Dispute>> {
    const { status, reason, dueBefore, userId, ...paging } = args;
    const where = {
      ...(status && { status }),
      ...(reason && { reason }),
      ...(dueBefore && { evidenceDueAt: { $lt: dueBefore } }),
      ...(userId && { userId }),
    };
    return page(ctx.em, Dispute, where, paging, { time: 'listedAt', direction: 'asc' });
  }

  @Access(staffWith('dispute:read'))
  @Query(() => Dispute, { nullable: true })
  dispute(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Dispute | null> {
    return findRow(ctx, Dispute, { id });
  }

  @Access(staffWith('dispute:write'))
  @TwoPhase(evidence)
  @Mutation(() => Dispute, { description: 'Sends evidence to the bank, once.' })
  submitDisputeEvidence(
    @Arg('input', () => SubmitDisputeEvidenceInput) _input: SubmitDisputeEvidenceInput,
    @Ctx() ctx: Context,
  ): Promise<Dispute | Problem> {
    return evidenceSubmitted(ctx);
  }

  @Access(staffWith('dispute:write'))
  @TwoPhase(acceptance)
  @Mutation(() => Dispute, { description: 'Gives a dispute up; its money stays gone.' })
  acceptDispute(@Arg('id', () => ID) _id: string, @Ctx() ctx: Context): Promise<Dispute | Problem> {
    return disputeAccepted(ctx);
  }

  @Access(VIEWERS)
  @FieldResolver(() => Payment)
  payment(@Root() { paymentId }: Dispute, @Ctx() ctx: Context): Promise<Payment | null> {
    return loadRow(ctx, Payment, 'id', paymentId);
  }
}
