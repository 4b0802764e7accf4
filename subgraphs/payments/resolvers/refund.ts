import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow, requireRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { TwoPhase, twoPhases } from '../../../runtime/request/two-phase.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { approve, reject } from '../commands/refund/approval.js';
import { beginRefund } from '../commands/refund/create.js';
import { previewRefund } from '../commands/refund/preview.js';
import { refundFacts } from '../commands/refund/facts.js';
import { runRefund } from '../commands/refund/settle.js';
import { SERVICES_ONLY, staffWith, VIEWERS } from '../entities/access.js';
import { Payment } from '../entities/payment.js';
import { RefundPreview } from '../entities/refund-preview.js';
import { Refund, RefundConnection } from '../entities/refund.js';
import { CreateRefundInput, CreateStaffRefundInput, PreviewRefundInput, RefundsArgs } from '../inputs/refund.js';
import { createdIn } from '../queries/payment.js';

type Asked = { input: CreateRefundInput };

const refunding = twoPhases({
  intend: async (ctx, { input }: Asked) => (await beginRefund(ctx, { ...input, ...refundFacts.of(ctx) })).id,
  call: (ctx, { id }) => runRefund(ctx.host, id),
});

const refundingByStaff = twoPhases({ ...refunding });

const approving = twoPhases({
  intend: async (ctx, { id }: { id: string }) => (await approve(ctx, id)).id,
  call: (ctx, { id }) => runRefund(ctx.host, id),
});

@Resolver(() => Refund)
export class RefundResolver {
  @Access(staffWith('refund:read'))
  @Query(() => RefundConnection, { description: 'Refunds, newest first.' })
  refunds(@Args(() => RefundsArgs) args: RefundsArgs, @Ctx() ctx: Context): Promise<Connection<Refund>> {
    const { status, paymentId, userId, from, to, ...paging } = args;
    const asked = { ...(status && { status }), ...(paymentId && { paymentId }), ...(userId && { userId }) };
    return page(ctx.em, Refund, { $and: [asked, createdIn(from, to)] }, paging, { time: 'createdAt' });
  }

  @Access(SERVICES_ONLY)
  @Mutation(() => RefundPreview, {
    description: 'What a refund would do; its token binds the refund to it for ten minutes. Nothing changes.',
  })
  previewRefund(@Arg('input', () => PreviewRefundInput) input: PreviewRefundInput, @Ctx() ctx: Context): Promise<RefundPreview> {
    return previewRefund(ctx, input);
  }

  @Prepare(refundFacts)
  @TwoPhase(refunding)
  @Access(SERVICES_ONLY)
  @Mutation(() => Refund, { description: 'Gives money back, at most what is left of it.' })
  createRefund(@Arg('input', () => CreateRefundInput) _input: CreateRefundInput, @Ctx() ctx: Context): Promise<Refund | Problem> {
    return requireRow(ctx, Refund, { id: refunding.of(ctx).intent.id });
  }

  @Prepare(refundFacts)
  @TwoPhase(refundingByStaff)
  @Access(staffWith('refund:write'))
  @Mutation(() => Refund, { description: 'Gives money back; above the threshold another person has to approve.' })
  createStaffRefund(@Arg('input', () => CreateStaffRefundInput) _input: CreateStaffRefundInput, @Ctx() ctx: Context): Promise<Refund> {
    return requireRow(ctx, Refund, { id: refundingByStaff.of(ctx).intent.id });
  }

  @TwoPhase(approving)
  @Access(staffWith('refund:approve'))
  @Mutation(() => Refund, { description: "Agrees to another person's refund." })
  approveRefund(@Rule({ pattern: UUID }) @Arg('id', () => ID) _id: string, @Ctx() ctx: Context): Promise<Refund> {
    return requireRow(ctx, Refund, { id: approving.of(ctx).intent.id });
  }

  @Access(staffWith('refund:approve'))
  @Mutation(() => Refund, { description: 'Refuses a refund that waits for approval.' })
  rejectRefund(@Rule({ pattern: UUID }) @Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Refund> {
    return reject(ctx, id);
  }

  @Access(VIEWERS)
  @FieldResolver(() => Payment, { nullable: true })
  payment(@Root() { paymentId }: Refund, @Ctx() ctx: Context): Promise<Payment | null> | null {
    return paymentId === null ? null : loadRow(ctx, Payment, 'id', paymentId);
  }
}
