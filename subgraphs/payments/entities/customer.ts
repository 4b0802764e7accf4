import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { CurrencyCode, DateTime, EmailAddress, Money } from '../../../runtime/schema/scalars.js';
import { Brand, User } from '../stubs.js';
import type { Context } from '../../../runtime/request/context.js';
import { forBackOffice } from './back-office.js';
import { opened } from './sealed.js';
import { VIEWERS } from './access.js';
import { PaymentProcessor } from './enums-payment.js';

/** Who pays, once for each user, brand and processor. Source: payments 2. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'Who pays at one brand.' })
@Entity({ tableName: 'billing_customer' })
export class BillingCustomer {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  userId: string;

  @Property({ type: 'uuid' })
  brandId: string;

  @Field(() => PaymentProcessor)
  @Enum({ items: () => PaymentProcessor })
  processor: PaymentProcessor;

  @Property({ type: 'text', fieldName: 'processor_customer_id', nullable: true })
  processorRef: string | null = null;

  @Field(() => CurrencyCode)
  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Property({ type: 'boolean' })
  currencyFixed: boolean = false;

  @Property({ type: 'blob', nullable: true })
  emailSealed: Buffer | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'credit_balance' })
  creditBalanceMinor: number = 0;

  @Field(() => Boolean, { description: 'An invoice is overdue.' })
  @Property({ type: 'boolean' })
  delinquent: boolean = false;

  @Property({ type: 'datetime', length: 3, nullable: true })
  firstPaidAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  erasedAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  forgetAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money, { description: 'Credit of the customer, taken before the card.' })
  get creditBalance(): Money {
    return { amount: this.creditBalanceMinor, currency: this.currency };
  }

  @Field(() => User)
  get user(): User {
    return { id: this.userId };
  }

  @Field(() => Brand, { nullable: true })
  get brand(): Brand {
    return { id: this.brandId };
  }

  @Field(() => EmailAddress, { nullable: true })
  email(@Ctx() ctx: Context): string | null {
    return opened<string>(ctx, this.emailSealed, 'billing_customer', this.id);
  }

  @Field(() => String, { nullable: true, description: 'For services and staff.' })
  processorCustomerId(@Ctx() ctx: Context): string | null {
    return forBackOffice(ctx, this.processorRef);
  }
}
