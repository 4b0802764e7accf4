import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT, PERSONAL, SECRET } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject, Money } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import type { Context } from '../../../runtime/request/context.js';
import { PaymentError, PaymentNextAction, redirectTo } from './money.js';
import { forBackOffice } from './back-office.js';
import { BACK_OFFICE, VIEWERS } from './access.js';
import { CaptureMethod, DeclineCategory, PaymentAttemptStatus, PaymentProcessor, PaymentPurpose, PaymentStatus } from './enums-payment.js';

/** Money that is to be, or was, taken from one card or account. Source: payments 2, 3.1. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Money taken from one card or account.' })
@Entity({ tableName: 'payment' })
export class Payment {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid', nullable: true })
  customerId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  brandId: string | null = null;

  @Field(() => PaymentPurpose)
  @Enum({ items: () => PaymentPurpose })
  purpose: PaymentPurpose;

  @Field(() => PaymentStatus)
  @Enum({ items: () => PaymentStatus })
  status: PaymentStatus;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  amountMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'amount_captured' })
  amountCapturedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'amount_refunded' })
  amountRefundedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'amount_reserved' })
  amountReservedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'amount_disputed' })
  amountDisputedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'fee', nullable: true })
  feeMinor: number | null = null;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Field(() => PaymentProcessor)
  @Enum({ items: () => PaymentProcessor })
  processor: PaymentProcessor;

  @Property({ type: 'text', fieldName: 'processor_payment_id', nullable: true, comment: SECRET })
  processorRef: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  paymentMethodId: string | null = null;

  @Field(() => String, { nullable: true, description: 'Kept after the method is detached.' })
  @Property({ type: 'text', nullable: true, comment: PERSONAL })
  methodSummary: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  invoiceId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  orderId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  checkoutSessionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  giftSessionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  subscriptionId: string | null = null;

  @Field(() => String, { nullable: true, description: 'Id of the mirrored charge at its owner.' })
  @Property({ type: 'text', nullable: true })
  externalRef: string | null = null;

  @Enum({ items: () => CaptureMethod })
  capture: CaptureMethod = CaptureMethod.AUTOMATIC;

  @Property({ type: 'boolean' })
  offSession: boolean = false;

  @Property({ type: 'text', nullable: true, comment: SECRET })
  nextActionUrl: string | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  nextActionExpiresAt: Date | null = null;

  @Field(() => PaymentError, { nullable: true })
  @Property({ type: 'json', nullable: true })
  lastError: PaymentError | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  statementDescriptor: string;

  @Field(() => JSONObject)
  @Property({ type: 'json', comment: FREE_TEXT })
  metadata: unknown = {};

  @Property({ type: 'blob', nullable: true, comment: SECRET })
  tokenHash: Buffer | null = null;

  @Property({ type: 'blob', nullable: true, comment: SECRET })
  tokenSealed: Buffer | null = null;

  @Property({ type: 'integer' })
  attemptCount: number = 0;

  @Property({ type: 'datetime', length: 3, nullable: true })
  captureBefore: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  capturedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  mirroredAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money)
  get amount(): Money {
    return { amount: this.amountMinor, currency: this.currency };
  }

  @Field(() => Money)
  get amountCaptured(): Money {
    return { amount: this.amountCapturedMinor, currency: this.currency };
  }

  @Field(() => Money, { description: 'What went back, and settled.' })
  get amountRefunded(): Money {
    return { amount: this.amountRefundedMinor, currency: this.currency };
  }

  @Field(() => Money, { description: 'In open or lost disputes.' })
  get amountDisputed(): Money {
    return { amount: this.amountDisputedMinor, currency: this.currency };
  }

  @Field(() => User)
  get user(): User {
    return { id: this.userId };
  }

  @Field(() => Money, { description: 'What may still go back.' })
  get amountRefundable(): Money {
    return { amount: this.refundableMinor, currency: this.currency };
  }

  @Field(() => PaymentNextAction, { nullable: true })
  get nextAction(): PaymentNextAction | null {
    return this.status === PaymentStatus.REQUIRES_ACTION ? redirectTo(this.nextActionUrl, this.nextActionExpiresAt) : null;
  }

  /** Minor units that may still go back. Source: payments 7.3. */
  get refundableMinor(): number {
    return this.amountCapturedMinor - this.amountRefundedMinor - this.amountReservedMinor - this.amountDisputedMinor;
  }

  @Field(() => Money, { nullable: true, description: 'Of the processor. For services and staff.' })
  fee(@Ctx() ctx: Context): Money | null {
    return forBackOffice(ctx, this.feeMinor === null ? null : { amount: this.feeMinor, currency: this.currency });
  }

  @Field(() => String, { nullable: true, description: 'For services and staff.' })
  processorPaymentId(@Ctx() ctx: Context): string | null {
    return forBackOffice(ctx, this.processorRef);
  }
}

export const PaymentConnection = connectionOf<Payment>(Payment, 'Payment');

/** One try to charge; its id is the idempotency key at the processor. Source: payments 7.2. */
@Access(BACK_OFFICE)
@ObjectType({ description: 'One try to charge.' })
@Entity({ tableName: 'payment_attempt' })
export class PaymentAttempt {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  paymentId: string;

  @Field(() => Int)
  @Property({ type: 'integer' })
  number: number;

  @Field(() => PaymentAttemptStatus)
  @Enum({ items: () => PaymentAttemptStatus })
  status: PaymentAttemptStatus = PaymentAttemptStatus.PENDING;

  @Property({ type: 'uuid', nullable: true })
  paymentMethodId: string | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'amount' })
  amountMinor: number;

  @Property({ type: 'boolean' })
  offSession: boolean = false;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  declineCode: string | null = null;

  @Field(() => DeclineCategory, { nullable: true })
  @Enum({ items: () => DeclineCategory, nullable: true })
  category: DeclineCategory | null = null;

  @Property({ type: 'text', nullable: true })
  processorRef: string | null = null;

  @Property({ type: 'text', nullable: true })
  cardBrand: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  startedAt: Date;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  settledAt: Date | null = null;

  @Property({ type: 'integer' })
  looks: number = 0;

  @Property({ type: 'datetime', length: 3, nullable: true })
  nextLookAt: Date | null = null;
}
