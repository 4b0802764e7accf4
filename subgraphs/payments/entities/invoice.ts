import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import { VIEWERS } from './access.js';
import { InvoiceKind, InvoiceLineKind, InvoiceStatus } from './enums-billing.js';
import { RefundReason } from './enums-payment.js';

/** How its brand collects an invoice, as it was when the invoice was made out; null: as payments 3.5 says. Days from the first failure. */
export interface DunningTerms {
  retryDays: readonly number[];
  finalDay: number;
  finalAction: 'cancel' | 'pause';
}

/** What a customer owes for a period or a change. Lines and seller are frozen once it is open. Source: payments 2, 3.4. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'What a customer owes.' })
@Entity({ tableName: 'invoice' })
export class Invoice {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  number: string | null = null;

  @Property({ type: 'uuid' })
  brandId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  customerId: string;

  @Property({ type: 'uuid', nullable: true })
  subscriptionId: string | null = null;

  @Enum({ items: () => InvoiceKind })
  kind: InvoiceKind = InvoiceKind.PERIOD;

  @Field(() => InvoiceStatus)
  @Enum({ items: () => InvoiceStatus })
  status: InvoiceStatus = InvoiceStatus.DRAFT;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Property({ type: new BigIntType('number'), fieldName: 'subtotal' })
  subtotalMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'discount' })
  discountMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'tax' })
  taxMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'shipping' })
  shippingMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'total' })
  totalMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'cash_applied' })
  cashAppliedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'credit_applied' })
  creditAppliedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'amount_paid' })
  amountPaidMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'amount_refunded' })
  amountRefundedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'cash_returned' })
  cashReturnedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'credit_returned' })
  creditReturnedMinor: number = 0;

  @Property({ type: 'text', nullable: true })
  taxRegion: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  promoId: string | null = null;

  @Property({ type: 'text', nullable: true })
  promoCode: string | null = null;

  @Property({ type: 'text', nullable: true })
  affiliateCode: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  checkoutSessionId: string | null = null;

  @Property({ type: 'boolean', nullable: true })
  firstPurchase: boolean | null = null;

  @Property({ type: 'text', fieldName: 'seller_name', nullable: true })
  seller: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  periodStart: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  periodEnd: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null = null;

  @Field(() => Int)
  @Property({ type: 'integer' })
  attemptCount: number = 0;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  nextAttemptAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  firstFailedAt: Date | null = null;

  @Property({ type: 'uuid', nullable: true })
  hardDeclinedMethodId: string | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  giveUpAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  leasedUntil: Date | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'kept_credit' })
  keptCreditMinor: number = 0;

  @Property({ type: 'datetime', length: 3, nullable: true })
  keptCreditDueAt: Date | null = null;

  @Property({ type: 'json', nullable: true })
  dunning: DunningTerms | null = null;

  @Property({ type: 'text', nullable: true })
  referenceType: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  referenceId: string | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  finalizedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  pastDueAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  paidAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money)
  get subtotal(): Money {
    return { amount: this.subtotalMinor, currency: this.currency };
  }

  @Field(() => Money)
  get discount(): Money {
    return { amount: this.discountMinor, currency: this.currency };
  }

  @Field(() => Money)
  get tax(): Money {
    return { amount: this.taxMinor, currency: this.currency };
  }

  @Field(() => Money)
  get total(): Money {
    return { amount: this.totalMinor, currency: this.currency };
  }

  @Field(() => Money)
  get cashApplied(): Money {
    return { amount: this.cashAppliedMinor, currency: this.currency };
  }

  @Field(() => Money)
  get creditApplied(): Money {
    return { amount: this.creditAppliedMinor, currency: this.currency };
  }

  @Field(() => Money)
  get amountPaid(): Money {
    return { amount: this.amountPaidMinor, currency: this.currency };
  }

  @Field(() => Money)
  get amountRefunded(): Money {
    return { amount: this.amountRefundedMinor, currency: this.currency };
  }

  @Field(() => User)
  get user(): User {
    return { id: this.userId };
  }

  @Field(() => Money, { description: 'Total less cash, credit and what was paid.' })
  get amountDue(): Money {
    return { amount: this.amountDueMinor, currency: this.currency };
  }

  /** Minor units. */
  get amountDueMinor(): number {
    return this.totalMinor - this.cashAppliedMinor - this.creditAppliedMinor - this.amountPaidMinor;
  }

  @Field(() => String, { description: 'Legal name of the brand, as it was when the invoice was made out.' })
  get sellerName(): string {
    return this.seller ?? '';
  }
}

export const InvoiceConnection = connectionOf<Invoice>(Invoice, 'Invoice');

/** One line of an invoice; its amount is signed, minor units. */
@Access(VIEWERS)
@ObjectType({ description: 'One line of an invoice.' })
@Entity({ tableName: 'invoice_line' })
export class InvoiceLine {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  invoiceId: string;

  @Property({ type: 'integer' })
  position: number;

  @Field(() => InvoiceLineKind)
  @Enum({ items: () => InvoiceLineKind })
  kind: InvoiceLineKind;

  @Field(() => String)
  @Property({ type: 'text' })
  description: string;

  @Property({ type: 'uuid', nullable: true })
  priceId: string | null = null;

  @Field(() => Int)
  @Property({ type: 'integer' })
  quantity: number = 1;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  amountMinor: number;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  periodStart: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  periodEnd: Date | null = null;

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.amountMinor, currency: this.currency };
  }
}

/** What went back of an invoice, never changed: a bounced refund gets a further one of the negative amount. Source: payments 2. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'What went back of an invoice.' })
@Entity({ tableName: 'credit_note' })
export class CreditNote {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  number: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  invoiceId: string;

  @Property({ type: 'uuid' })
  refundId: string;

  @Property({ type: 'boolean' })
  isReversal: boolean = false;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  amountMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'tax' })
  taxMinor: number;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Field(() => RefundReason)
  @Enum({ items: () => RefundReason })
  reason: RefundReason;

  @Field(() => String)
  @Property({ type: 'text' })
  sellerName: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.amountMinor, currency: this.currency };
  }

  @Field(() => Money)
  get tax(): Money {
    return { amount: this.taxMinor, currency: this.currency };
  }
}

/** Last number given in a year; its row is locked while one is given, so that none is left out. */
@Entity({ tableName: 'invoice_counter' })
export class InvoiceCounter {
  @PrimaryKey({ type: 'uuid' })
  brandId: string;

  @PrimaryKey({ type: 'text' })
  kind: string;

  @PrimaryKey({ type: 'integer' })
  year: number;

  @Property({ type: 'integer' })
  last: number = 0;
}
