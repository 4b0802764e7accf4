import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { CurrencyCode, DateTime, Money } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import { VIEWERS } from './access.js';
import { InvoicePreview } from './billing-views.js';
import { Invoice } from './invoice.js';
import { PaymentMethod } from './payment-method.js';
import { Payment } from './payment.js';
import { BillingSubscription } from './subscription.js';

export enum BillingAction {
  UPDATE_PAYMENT_METHOD = 'update_payment_method',
  AUTHENTICATE_PAYMENT = 'authenticate_payment',
  PAY_INVOICE = 'pay_invoice',
}

registerEnums({ BillingAction }, { BillingAction: 'What a customer is to do.' });

/** Where somebody stands with their billing; zeros for whoever has bought nothing. Source: payments 2. */
@Access(VIEWERS)
@ObjectType({ description: 'Where somebody stands with their billing.' })
export class BillingSummary {
  @Field(() => User)
  user: User;

  @Field(() => CurrencyCode)
  currency: string;

  @Field(() => PaymentMethod, { nullable: true })
  defaultPaymentMethod: PaymentMethod | null;

  @Field(() => [BillingSubscription], { description: 'Those that live, newest first.' })
  subscriptions: BillingSubscription[];

  @Field(() => InvoicePreview, { nullable: true, description: 'The charge that comes next, of whatever subscription.' })
  nextCharge: InvoicePreview | null;

  @Field(() => Money, { description: 'Due on open and overdue invoices.' })
  outstanding: Money;

  @Field(() => Money)
  creditBalance: Money;

  @Field(() => Boolean)
  delinquent: boolean;

  @Field(() => Payment, { nullable: true })
  lastPayment: Payment | null;

  @Field(() => [BillingAction])
  actionRequired: BillingAction[];
}

/** The same for those who look after members. Source: payments 2. */
@Access(VIEWERS)
@ObjectType({ description: 'Billing of a member, for staff.' })
export class MemberBillingSummary {
  @Field(() => BillingSummary)
  summary: BillingSummary;

  @Field(() => Money)
  lifetimeCharged: Money;

  @Field(() => Money)
  lifetimeRefunded: Money;

  @Field(() => Int)
  openDisputes: number;

  @Field(() => Int)
  lostDisputes: number;

  @Field(() => Int, { description: 'Payments with a failed attempt in 90 days.' })
  failedLast90d: number;

  @Field(() => Int, { description: 'Refunded of charged, of 10000.' })
  refundRateBps: number;

  @Field(() => DateTime, { nullable: true })
  firstPaymentAt: Date | null;

  @Field(() => [Invoice], { description: 'The newest twenty.' })
  invoices: Invoice[];

  @Field(() => [String], {
    description: 'What stands out: past_due, open_dispute, lost_dispute, frequent_failures, high_refund_rate, no_payment_method.',
  })
  flags: string[];
}

/** Billing of a user, as a field of `User`. */
@ObjectType({ description: 'Billing of a user.' })
export class UserBilling {
  @Field(() => ID)
  userId: string;
}
