import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT, SECRET } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import type { Context } from '../../../runtime/request/context.js';
import { forBackOffice } from './back-office.js';
import { VIEWERS } from './access.js';
import { PaymentProcessor, RefundOrigin, RefundReason, RefundStatus } from './enums-payment.js';

/** Money on its way back, or back. Source: payments 2, 3.2. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Money that goes back.' })
@Entity({ tableName: 'refund' })
export class Refund {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid', nullable: true })
  paymentId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  checkoutSessionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  giftSessionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  invoiceId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  orderId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  subscriptionId: string | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  amountMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'cash_returned' })
  cashReturnedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'credit_returned' })
  creditReturnedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'tax' })
  taxMinor: number = 0;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Field(() => RefundStatus)
  @Enum({ items: () => RefundStatus })
  status: RefundStatus;

  @Field(() => RefundReason)
  @Enum({ items: () => RefundReason })
  reason: RefundReason;

  @Field(() => RefundOrigin)
  @Enum({ items: () => RefundOrigin })
  origin: RefundOrigin;

  @Property({ type: 'text', fieldName: 'note', nullable: true, comment: FREE_TEXT })
  noteText: string | null = null;

  @Field(() => Boolean, { description: 'Goes to cash instead of the card.' })
  @Property({ type: 'boolean' })
  toCash: boolean = false;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  failureCode: string | null = null;

  @Enum({ items: () => PaymentProcessor, nullable: true })
  processor: PaymentProcessor | null = null;

  @Property({ type: 'text', fieldName: 'processor_refund_id', nullable: true, comment: SECRET })
  processorRef: string | null = null;

  @Property({ type: 'text', fieldName: 'requested_by' })
  requester: string;

  @Property({ type: 'text', fieldName: 'approved_by', nullable: true })
  approver: string | null = null;

  @Property({ type: 'boolean' })
  byStaff: boolean = false;

  @Property({ type: 'datetime', length: 3, nullable: true })
  approveBefore: Date | null = null;

  @Property({ type: 'json', comment: FREE_TEXT })
  metadata: unknown = {};

  @Property({ type: 'integer' })
  looks: number = 0;

  @Property({ type: 'datetime', length: 3, nullable: true })
  nextLookAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  bouncedAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  settledAt: Date | null = null;

  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money, { description: 'Card part, 0 where the processor takes no part.' })
  get amount(): Money {
    return { amount: this.amountMinor, currency: this.currency };
  }

  @Field(() => Money)
  get cashReturned(): Money {
    return { amount: this.cashReturnedMinor, currency: this.currency };
  }

  @Field(() => Money)
  get creditReturned(): Money {
    return { amount: this.creditReturnedMinor, currency: this.currency };
  }

  @Field(() => String, { nullable: true, description: 'For services and staff.' })
  note(@Ctx() ctx: Context): string | null {
    return forBackOffice(ctx, this.noteText);
  }

  @Field(() => ID, { nullable: true, description: 'For services and staff.' })
  requestedBy(@Ctx() ctx: Context): string | null {
    return forBackOffice(ctx, this.requester);
  }

  @Field(() => ID, { nullable: true, description: 'For services and staff.' })
  approvedBy(@Ctx() ctx: Context): string | null {
    return forBackOffice(ctx, this.approver);
  }
}

export const RefundConnection = connectionOf<Refund>(Refund, 'Refund');
