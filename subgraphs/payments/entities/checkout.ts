import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { DateTime, Url } from '../../../runtime/schema/scalars.js';
import type { Context } from '../../../runtime/request/context.js';
import { amountsOf, CheckoutAmounts, PaymentError } from './money.js';
import { hostedUrl } from './hosted.js';
import { VIEWERS } from './access.js';
import { BillingSessionStatus, CaptureMethod, CheckoutMode, CheckoutStep, PaymentPurpose } from './enums-payment.js';

/** One thing that is bought, with its price at that time. Amounts in minor units; `discount` and `tax` are the line's share. */
export interface CheckoutLine {
  priceId: string | null;
  subjectKind: string | null;
  subjectId: string | null;
  description: string;
  quantity: number;
  subtotal: number;
  discount: number;
  tax: number;
}

/** A purchase on its way, and the row of its saga. Source: payments 2, 5.3. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A purchase on its way.' })
@Entity({ tableName: 'checkout_session' })
export class CheckoutSession {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  customerId: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Property({ type: 'text' })
  clientId: string;

  @Field(() => CheckoutMode)
  @Enum({ items: () => CheckoutMode })
  mode: CheckoutMode;

  @Field(() => BillingSessionStatus)
  @Enum({ items: () => BillingSessionStatus })
  status: BillingSessionStatus = BillingSessionStatus.OPEN;

  @Enum({ items: () => CheckoutStep })
  step: CheckoutStep = CheckoutStep.NEW;

  @Property({ type: 'datetime', length: 3, nullable: true })
  stepDueAt: Date | null = null;

  @Property({ type: 'integer' })
  stepTries: number = 0;

  @Enum({ items: () => BillingSessionStatus, nullable: true })
  endAs: BillingSessionStatus | null = null;

  @Property({ type: 'integer' })
  holds: number = 0;

  @Enum({ items: () => PaymentPurpose })
  purpose: PaymentPurpose;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  orderId: string | null = null;

  @Property({ type: 'text', nullable: true })
  referenceType: string | null = null;

  @Property({ type: 'text', nullable: true })
  referenceId: string | null = null;

  @Property({ type: 'text', nullable: true })
  description: string | null = null;

  @Property({ type: 'json' })
  lines: CheckoutLine[];

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Property({ type: new BigIntType('number'), fieldName: 'subtotal' })
  subtotalMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'discount' })
  discountMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'tax' })
  taxMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'shipping' })
  shippingMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'cash_applied' })
  cashAppliedMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'credit_applied' })
  creditAppliedMinor: number;

  @Property({ type: new BigIntType('number'), fieldName: 'total' })
  totalMinor: number;

  @Property({ type: 'text', nullable: true })
  taxRegion: string | null = null;

  @Property({ type: 'boolean' })
  useCash: boolean = false;

  @Property({ type: 'uuid', nullable: true })
  cashReservationId: string | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'cash_returned' })
  cashReturnedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'credit_returned' })
  creditReturnedMinor: number = 0;

  @Property({ type: 'uuid', nullable: true })
  promoId: string | null = null;

  @Property({ type: 'text', nullable: true })
  promoCode: string | null = null;

  @Property({ type: 'text', nullable: true })
  affiliateCode: string | null = null;

  @Enum({ items: () => CaptureMethod })
  capture: CaptureMethod = CaptureMethod.AUTOMATIC;

  @Property({ type: 'boolean' })
  offSession: boolean = false;

  @Property({ type: 'text', nullable: true })
  returnUrl: string | null = null;

  @Property({ type: 'text', nullable: true })
  cancelUrl: string | null = null;

  @Property({ type: 'blob', nullable: true })
  tokenHash: Buffer | null = null;

  @Property({ type: 'blob', nullable: true })
  tokenSealed: Buffer | null = null;

  @Property({ type: 'uuid', nullable: true })
  paymentMethodId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  paymentId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  subscriptionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  invoiceId: string | null = null;

  @Property({ type: 'boolean', nullable: true })
  firstPurchase: boolean | null = null;

  @Field(() => PaymentError, { nullable: true })
  @Property({ type: 'json', nullable: true })
  lastError: PaymentError | null = null;

  @Property({ type: 'json' })
  metadata: unknown = {};

  @Property({ type: 'datetime', length: 3, nullable: true })
  extendHoldsAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  paidAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => CheckoutAmounts)
  get amounts(): CheckoutAmounts {
    return amountsOf(this);
  }

  @Field(() => Url, { nullable: true, description: 'Page on which the customer pays; null once it ended.' })
  url(@Ctx() ctx: Context): string | null {
    return hostedUrl(ctx, this);
  }

  @Field(() => String, { nullable: true, description: "For the processor's own fields in a page; null where its page is ours." })
  get clientSecret(): string | null {
    return null;
  }

  /** What settles it is known: from here on its obligation counts for refunds. */
  get isPaid(): boolean {
    return this.paidAt !== null;
  }
}
