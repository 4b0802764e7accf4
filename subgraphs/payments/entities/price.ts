import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { DateTime, Money } from '../../../runtime/schema/scalars.js';
import { Brand } from '../stubs.js';
import { PRICE_VIEWERS } from './access.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { BillingInterval } from './enums-billing.js';

@ObjectType({ description: 'How often a price is charged.' })
export class PriceRecurrence {
  @Field(() => BillingInterval)
  interval: BillingInterval;

  @Field(() => Int)
  intervalCount: number;
}

/** What something costs. Amount and recurrence never change: a change is another price. Source: payments 2. */
@Access(PRICE_VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'What something costs, once or again and again.' })
@Entity({ tableName: 'billing_price' })
export class BillingPrice {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => String)
  @Property({ type: 'text' })
  key: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => PriceSubjectKind)
  @Enum({ items: () => PriceSubjectKind })
  subjectKind: PriceSubjectKind;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  subjectId: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  tier: string | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'unit_amount' })
  unitAmountMinor: number;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Enum({ items: () => BillingInterval, nullable: true })
  interval: BillingInterval | null = null;

  @Property({ type: 'integer', nullable: true })
  intervalCount: number | null = null;

  @Field(() => Int)
  @Property({ type: 'integer' })
  trialDays: number = 0;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  taxInclusive: boolean = false;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  active: boolean = true;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money)
  get unitAmount(): Money {
    return { amount: this.unitAmountMinor, currency: this.currency };
  }

  @Field(() => Brand)
  get brand(): Brand {
    return { id: this.brandId };
  }

  @Field(() => PriceRecurrence, { nullable: true, description: 'Null: charged once.' })
  get recurring(): PriceRecurrence | null {
    return this.interval === null ? null : { interval: this.interval, intervalCount: this.intervalCount! };
  }
}

export const BillingPriceConnection = connectionOf<BillingPrice>(BillingPrice, 'BillingPrice');
