import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { FREE_TEXT } from '../../../runtime/data/safe-views.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, JSONObject, SafeInt } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import { BillingPrice } from './price.js';
import { VIEWERS } from './access.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { BillingSubscriptionSource, BillingSubscriptionStatus, SubscriptionChangeStatus } from './enums-billing.js';

/** A price that is charged again and again. Source: payments 2, 3.3. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A price that is charged again and again.' })
@Entity({ tableName: 'billing_subscription' })
export class BillingSubscription {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  customerId: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Property({ type: 'uuid' })
  priceId: string;

  @Enum({ items: () => PriceSubjectKind })
  subjectKind: PriceSubjectKind;

  @Property({ type: 'uuid' })
  subjectId: string;

  @Property({ type: 'text', nullable: true })
  tier: string | null = null;

  @Field(() => Int)
  @Property({ type: 'integer' })
  quantity: number = 1;

  @Field(() => BillingSubscriptionStatus)
  @Enum({ items: () => BillingSubscriptionStatus })
  status: BillingSubscriptionStatus;

  @Field(() => BillingSubscriptionSource)
  @Enum({ items: () => BillingSubscriptionSource })
  source: BillingSubscriptionSource = BillingSubscriptionSource.PURCHASE;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  currentPeriodStart: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  currentPeriodEnd: Date;

  @Field(() => Int, { nullable: true, description: 'Day of the month on which a period begins; null: the interval is not of months.' })
  @Property({ type: 'integer', nullable: true })
  anchorDay: number | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  anchorAt: Date | null = null;

  @Property({ type: 'integer' })
  periodIndex: number = 0;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  trialEndsAt: Date | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  cancelAtPeriodEnd: boolean = false;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  cancelledAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  cancelReason: string | null = null;

  @Property({ type: 'text', nullable: true, comment: FREE_TEXT })
  cancelComment: string | null = null;

  @Property({ type: 'boolean' })
  pauseAtPeriodEnd: boolean = false;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  pausedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  resumeAt: Date | null = null;

  @Field(() => SafeInt, { description: 'Paid time that a pause keeps.' })
  @Property({ type: new BigIntType('number') })
  bankedSeconds: number = 0;

  @Property({ type: 'uuid', nullable: true })
  paymentMethodId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  latestInvoiceId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  promoId: string | null = null;

  @Property({ type: 'integer', nullable: true })
  promoPeriodsLeft: number | null = null;

  @Property({ type: 'uuid', nullable: true })
  checkoutSessionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  giftId: string | null = null;

  @Field(() => JSONObject)
  @Property({ type: 'json', comment: FREE_TEXT })
  metadata: unknown = {};

  @Property({ type: 'datetime', length: 3, nullable: true })
  createdEmittedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  incompleteUntil: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  nextRunAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  nextNoticeAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  leasedUntil: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => User)
  get user(): User {
    return { id: this.userId };
  }
}

export const BillingSubscriptionConnection = connectionOf<BillingSubscription>(BillingSubscription, 'BillingSubscription');

/** A change of price or quantity that is planned, or was made. Source: payments 3.3. */
@Entity({ tableName: 'subscription_change' })
export class SubscriptionChange {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  subscriptionId: string;

  @Property({ type: 'uuid' })
  fromPriceId: string;

  @Property({ type: 'uuid' })
  toPriceId: string;

  @Property({ type: 'integer' })
  quantity: number;

  @Property({ type: 'integer' })
  fromQuantity: number;

  @Property({ type: 'boolean' })
  restarts: boolean = false;

  @Property({ type: 'uuid', nullable: true })
  invoiceId: string | null = null;

  @Enum({ items: () => SubscriptionChangeStatus })
  status: SubscriptionChangeStatus = SubscriptionChangeStatus.PENDING;

  @Property({ type: 'datetime', length: 3 })
  effectiveAt: Date;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}

@ObjectType({ description: 'A change that takes effect later.' })
export class BillingSubscriptionChange {
  @Field(() => BillingPrice)
  price: BillingPrice;

  @Field(() => Int)
  quantity: number;

  @Field(() => DateTime)
  effectiveAt: Date;
}
