import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { Brand } from '../stubs.js';
import { PROMO_VIEWERS, VIEWERS } from './access.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { PromoDuration, PromoHoldStatus, PromoKind, PromoStatus } from './enums-offers.js';

@ObjectType({ description: 'What a promo is good for; both empty: everything.' })
export class PromoScope {
  @Field(() => [ID])
  priceIds: string[];

  @Field(() => [PriceSubjectKind])
  subjectKinds: PriceSubjectKind[];
}

/** A code that takes something off, or prolongs a trial. Source: payments 2, 3.7. */
@Access(PROMO_VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A code that takes something off, or prolongs a trial.' })
@Entity({ tableName: 'promo' })
export class Promo {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  brandId: string;

  /** Whoever sees a subscription sees what it was bought with. */
  @Access(VIEWERS)
  @Field(() => String)
  @Property({ type: 'text' })
  code: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  name: string | null = null;

  @Field(() => PromoKind)
  @Enum({ items: () => PromoKind })
  kind: PromoKind;

  @Field(() => Int, { nullable: true, description: 'Of 10000.' })
  @Property({ type: 'integer', nullable: true })
  percentBps: number | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'amount_off', nullable: true })
  amountOffMinor: number | null = null;

  @Property({ type: 'string', columnType: 'char(3)', nullable: true })
  currency: string | null = null;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  trialDays: number | null = null;

  @Field(() => PromoDuration)
  @Enum({ items: () => PromoDuration })
  duration: PromoDuration;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  durationPeriods: number | null = null;

  @Field(() => PromoStatus)
  @Enum({ items: () => PromoStatus })
  status: PromoStatus;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startsAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  endsAt: Date | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'min_subtotal', nullable: true })
  minSubtotalMinor: number | null = null;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  firstPurchaseOnly: boolean = false;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  maxRedemptions: number | null = null;

  @Field(() => Int)
  @Property({ type: 'integer' })
  perUserLimit: number = 1;

  @Field(() => Int)
  @Property({ type: 'integer' })
  redeemedCount: number = 0;

  @Field(() => Int)
  @Property({ type: 'integer' })
  reservedCount: number = 0;

  @Property({ type: 'integer' })
  lateCount: number = 0;

  @Property({ type: 'string[]', columnType: 'uuid[]' })
  priceIds: string[] = [];

  @Property({ type: 'string[]', columnType: 'text[]' })
  subjectKinds: string[] = [];

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  affiliateCode: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money, { nullable: true })
  get amountOff(): Money | null {
    return this.amountOffMinor === null ? null : { amount: this.amountOffMinor, currency: this.currency! };
  }

  @Field(() => Money, { nullable: true })
  get minSubtotal(): Money | null {
    return this.minSubtotalMinor === null ? null : { amount: this.minSubtotalMinor, currency: this.currency! };
  }

  @Field(() => Brand)
  get brand(): Brand {
    return { id: this.brandId };
  }

  @Field(() => PromoScope)
  get appliesTo(): PromoScope {
    return { priceIds: this.priceIds, subjectKinds: this.subjectKinds as PriceSubjectKind[] };
  }
}

export const PromoConnection = connectionOf<Promo>(Promo, 'Promo');

@ObjectType({ description: 'Share of a discount in one line.' })
export class PromoAllocation {
  @Field(() => Int, { description: 'Index in the input.' })
  line: number;

  @Field(() => ID)
  subjectId: string;

  @Field(() => Money)
  amount: Money;
}

/** One use of a promo, held first. Source: payments 3.7. */
@Entity({ tableName: 'promo_redemption' })
export class PromoRedemption {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  promoId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid', nullable: true })
  checkoutSessionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  orderId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  invoiceId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  subscriptionId: string | null = null;

  @Enum({ items: () => PromoHoldStatus })
  status: PromoHoldStatus = PromoHoldStatus.RESERVED;

  @Property({ type: new BigIntType('number'), fieldName: 'discount' })
  discountMinor: number;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Property({ type: 'json' })
  allocations: PromoAllocation[];

  @Property({ type: 'boolean' })
  late: boolean = false;

  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  redeemedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  releasedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;
}
