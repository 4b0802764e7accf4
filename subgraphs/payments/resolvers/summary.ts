import { Arg, Args, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access, reachesAll } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { page, PageArgs, type Connection } from '../../../runtime/request/paging.js';
import { Rule, UUID } from '../../../runtime/schema/constraints.js';
import { billingSummary, memberSummary } from '../commands/summary.js';
import { INVOICE_READERS, PAYMENT_READERS, staffWith, SUBSCRIPTION_READERS, VIEWERS } from '../entities/access.js';
import { BillingCustomer } from '../entities/customer.js';
import { Gift } from '../entities/gift.js';
import { Invoice, InvoiceConnection } from '../entities/invoice.js';
import { PaymentMethod } from '../entities/payment-method.js';
import { Payment, PaymentConnection } from '../entities/payment.js';
import { BillingSubscription, BillingSubscriptionConnection } from '../entities/subscription.js';
import { BillingSummary, MemberBillingSummary, UserBilling } from '../entities/summary.js';
import { shownTo } from '../queries/billing.js';
import { giftsOf } from '../queries/gift.js';
import { methodsOf } from '../queries/payment-method.js';
import { User } from '../stubs.js';

@Resolver()
export class SummaryResolver {
  @Access(PAYMENT_READERS)
  @Query(() => BillingSummary, { description: 'Where somebody stands with their billing.' })
  billingSummary(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID, { nullable: true }) userId: string | null,
    @Ctx() ctx: Context,
  ): Promise<BillingSummary> {
    return billingSummary(ctx, ctx.subject(userId).toLowerCase());
  }

  @Access(staffWith('read'))
  @Query(() => MemberBillingSummary, { description: 'Where a member stands, with what stands out; zeros for whoever has bought nothing.' })
  memberBillingSummary(
    @Rule({ pattern: UUID }) @Arg('userId', () => ID) userId: string,
    @Ctx() ctx: Context,
  ): Promise<MemberBillingSummary> {
    return memberSummary(ctx, userId.toLowerCase());
  }
}

/** Whoever is no reader of everybody's sees the own billing alone. @throws Problem forbidden. */
function requireOwn({ caller }: Context, id: string): void {
  if (!reachesAll(PAYMENT_READERS, caller) && caller.userId !== id) fail('forbidden', 'Billing of another person');
}

@Resolver(() => User)
export class UserBillingResolver {
  @Access(VIEWERS)
  @FieldResolver(() => UserBilling, { nullable: true, description: 'For the user, services and staff.' })
  billing(@Root() { id }: User, @Ctx() ctx: Context): UserBilling {
    requireOwn(ctx, id);
    return { userId: id };
  }

  @Access(VIEWERS)
  @FieldResolver(() => [Gift], { nullable: true, description: 'Given and got, newest first. For the user, services and staff.' })
  async gifts(@Root() { id }: User, @Ctx() ctx: Context): Promise<Gift[]> {
    requireOwn(ctx, id);
    return (await ctx.load('User.gifts', id, ids => giftsOf(ctx, ids))) ?? [];
  }
}

const paging = { time: 'createdAt' } as const;

@Resolver(() => UserBilling)
export class BillingFieldsResolver {
  @Access(PAYMENT_READERS)
  @FieldResolver(() => BillingCustomer, { nullable: true })
  customer(@Root() { userId }: UserBilling, @Ctx() ctx: Context): Promise<BillingCustomer | null> {
    return ctx.em.findOne(BillingCustomer, { userId }, { orderBy: { currencyFixed: 'desc', createdAt: 'desc' } });
  }

  @Access(PAYMENT_READERS)
  @FieldResolver(() => BillingSummary)
  summary(@Root() { userId }: UserBilling, @Ctx() ctx: Context): Promise<BillingSummary> {
    return billingSummary(ctx, userId);
  }

  @Access(PAYMENT_READERS)
  @FieldResolver(() => [PaymentMethod])
  paymentMethods(@Root() { userId }: UserBilling, @Ctx() ctx: Context): Promise<PaymentMethod[]> {
    return methodsOf(ctx, userId);
  }

  @Access(SUBSCRIPTION_READERS)
  @FieldResolver(() => BillingSubscriptionConnection)
  subscriptions(
    @Root() { userId }: UserBilling,
    @Args(() => PageArgs) args: PageArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<BillingSubscription>> {
    return page(ctx.em, BillingSubscription, { userId }, args, paging);
  }

  @Access(INVOICE_READERS)
  @FieldResolver(() => InvoiceConnection)
  invoices(@Root() { userId }: UserBilling, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<Invoice>> {
    return page(ctx.em, Invoice, { $and: [{ userId }, shownTo(ctx)] }, args, paging);
  }

  @Access(PAYMENT_READERS)
  @FieldResolver(() => PaymentConnection)
  payments(@Root() { userId }: UserBilling, @Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<Payment>> {
    return page(ctx.em, Payment, { userId }, args, paging);
  }
}
