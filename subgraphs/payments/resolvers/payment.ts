import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { findRow, loadRow, requireRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, Problem } from '../../../runtime/request/errors.js';
import { PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { TwoPhase, twoPhases } from '../../../runtime/request/two-phase.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { beginCapture, callCapture } from '../commands/capture.js';
import { beginCancel, callCancel } from '../commands/payment-cancelling.js';
import { BACK_OFFICE, PAYMENT_READERS, SERVICES_ONLY, VIEWERS } from '../entities/access.js';
import { forBackOffice } from '../entities/back-office.js';
import { BillingCustomer } from '../entities/customer.js';
import { Dispute } from '../entities/dispute.js';
import { Invoice } from '../entities/invoice.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { Payment, PaymentAttempt, PaymentConnection } from '../entities/payment.js';
import { RefundConnection, type Refund } from '../entities/refund.js';
import { CapturePaymentInput, PaymentsArgs } from '../inputs/payment.js';
import { ownRows } from '../queries/own-rows.js';
import { attemptsOf, disputesOf, pageOfPayments, refundsOf } from '../queries/payment.js';

const capturing = twoPhases({
  intend: async (ctx, { input }: { input: CapturePaymentInput }) => `${(await beginCapture(ctx, input)).id}:${input.amount?.amount ?? ''}`,
  call: (ctx, { id }) => {
    const [paymentId, amount] = id.split(':') as [string, string];
    return callCapture(ctx.host, paymentId, amount === '' ? null : Number(amount));
  },
});

const cancelling = twoPhases({
  intend: async (ctx, { id }: { id: string }) => (await beginCancel(ctx, id)).id,
  call: (ctx, { id }) => callCancel(ctx.host, id),
});

@Resolver(() => Payment)
export class PaymentResolver {
  @Access(PAYMENT_READERS)
  @Query(() => Payment, { nullable: true })
  payment(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<Payment | null> {
    return findRow(ctx, Payment, { id, ...ownRows(ctx, PAYMENT_READERS) });
  }

  @Access(PAYMENT_READERS)
  @Query(() => PaymentConnection, { description: 'Payments, newest first.' })
  payments(@Args(() => PaymentsArgs) args: PaymentsArgs, @Ctx() ctx: Context): Promise<Connection<Payment>> {
    return pageOfPayments(ctx, args);
  }

  @TwoPhase(capturing)
  @Access(SERVICES_ONLY)
  @Mutation(() => Payment, { description: 'Takes what is authorized, or a part of it.' })
  async capturePayment(
    @Arg('input', () => CapturePaymentInput) _input: CapturePaymentInput,
    @Ctx() ctx: Context,
  ): Promise<Payment | Problem> {
    const { intent, outcome } = capturing.of(ctx);
    if (outcome?.status === 'unknown') return new Problem('unavailable', 'The processor cannot be reached right now', { retryAfter: 5 });
    if (outcome?.status === 'declined') fail('conflict', 'the processor does not capture this payment', { reason: outcome.decline.code });
    return requireRow(ctx, Payment, { id: intent.id.split(':')[0]! });
  }

  @TwoPhase(cancelling)
  @Access(SERVICES_ONLY)
  @Mutation(() => Payment, { description: 'Gives a payment up of which nothing is captured; what it holds goes back.' })
  async cancelPayment(@Rule({ pattern: UUID }) @Arg('id', () => ID) _id: string, @Ctx() ctx: Context): Promise<Payment | Problem> {
    const { intent, outcome } = cancelling.of(ctx);
    if (outcome) return outcome;
    return requireRow(ctx, Payment, { id: intent.id });
  }

  @Access(VIEWERS)
  @FieldResolver(() => BillingCustomer, { nullable: true })
  customer(@Root() { customerId }: Payment, @Ctx() ctx: Context): Promise<BillingCustomer | null> | null {
    return customerId === null ? null : loadRow(ctx, BillingCustomer, 'id', customerId);
  }

  @Access(VIEWERS)
  @FieldResolver(() => PaymentMethod, { nullable: true })
  paymentMethod(@Root() { paymentMethodId }: Payment, @Ctx() ctx: Context): Promise<PaymentMethod | null> | null {
    return paymentMethodId === null ? null : loadRow(ctx, PaymentMethod, 'id', paymentMethodId);
  }

  @Access(VIEWERS)
  @FieldResolver(() => Invoice, { nullable: true })
  invoice(@Root() { invoiceId }: Payment, @Ctx() ctx: Context): Promise<Invoice | null> | null {
    return invoiceId === null ? null : loadRow(ctx, Invoice, 'id', invoiceId);
  }

  @Access(VIEWERS)
  @FieldResolver(() => RefundConnection, { description: 'What of it was given back, newest first.' })
  refunds(@Root() { id }: Payment, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<Refund> | null> {
    return refundsOf(ctx, id, args);
  }

  @Access(VIEWERS)
  @FieldResolver(() => [Dispute], { description: 'In the order in which they were opened.' })
  disputes(@Root() { id }: Payment, @Ctx() ctx: Context): Promise<Dispute[]> {
    return disputesOf(ctx, id);
  }

  @Access(BACK_OFFICE)
  @FieldResolver(() => [PaymentAttempt], { nullable: true, description: 'In their order. For services and staff.' })
  async attempts(@Root() { id }: Payment, @Ctx() ctx: Context): Promise<PaymentAttempt[] | null> {
    return forBackOffice(ctx, await attemptsOf(ctx, id));
  }
}
