import { BigIntType } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { PERSONAL, SECRET } from '../../../runtime/data/safe-views.js';
import { DateTime, EmailAddress, Money } from '../../../runtime/schema/scalars.js';
import { User } from '../stubs.js';
import type { Context } from '../../../runtime/request/context.js';
import { amountsOf, CheckoutAmounts } from './money.js';
import { opened } from './sealed.js';
import { VIEWERS } from './access.js';
import { GiftKind, GiftStatus } from './enums-offers.js';
import { BillingSessionStatus } from './enums-payment.js';

/** A membership or credit that somebody gives to somebody else. Source: payments 2, 3.7. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A membership or credit for somebody else.' })
@Entity({ tableName: 'gift' })
export class Gift {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => GiftKind)
  @Enum({ items: () => GiftKind })
  kind: GiftKind;

  @Field(() => GiftStatus)
  @Enum({ items: () => GiftStatus })
  status: GiftStatus = GiftStatus.PENDING_PAYMENT;

  @Property({ type: 'uuid' })
  brandId: string;

  @Property({ type: 'uuid', nullable: true })
  purchaserId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  priceId: string | null = null;

  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  periods: number | null = null;

  @Property({ type: new BigIntType('number'), fieldName: 'value' })
  valueMinor: number;

  @Property({ type: 'string', columnType: 'char(3)' })
  currency: string;

  @Property({ type: 'blob', nullable: true, comment: SECRET })
  codeSealed: Buffer | null = null;

  @Property({ type: 'blob', nullable: true, comment: SECRET })
  codeHash: Buffer | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  codeLast4: string;

  @Property({ type: 'blob', nullable: true, comment: PERSONAL })
  recipientNameSealed: Buffer | null = null;

  @Property({ type: 'blob', nullable: true, comment: PERSONAL })
  recipientEmailSealed: Buffer | null = null;

  @Property({ type: 'blob', nullable: true, comment: PERSONAL })
  messageSealed: Buffer | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  deliverAt: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  deliveredAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Property({ type: 'uuid', nullable: true })
  redeemedById: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  redeemedAt: Date | null = null;

  @Property({ type: 'uuid', nullable: true })
  paymentId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  subscriptionId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  cashGrantId: string | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  coversFrom: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  coversTo: Date | null = null;

  @Property({ type: 'datetime', length: 3, nullable: true })
  settleAt: Date | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => Money)
  get value(): Money {
    return { amount: this.valueMinor, currency: this.currency };
  }

  @Field(() => User, { nullable: true })
  get purchaser(): User | null {
    return this.purchaserId === null ? null : { id: this.purchaserId };
  }

  @Field(() => User, { nullable: true })
  get redeemedBy(): User | null {
    return this.redeemedById === null ? null : { id: this.redeemedById };
  }

  @Field(() => String, { nullable: true })
  recipientName(@Ctx() ctx: Context): string | null {
    return opened<string>(ctx, this.recipientNameSealed, 'gift_recipient_name', this.id);
  }

  @Field(() => EmailAddress, { nullable: true })
  recipientEmail(@Ctx() ctx: Context): string | null {
    return opened<string>(ctx, this.recipientEmailSealed, 'gift_recipient_email', this.id);
  }

  @Field(() => String, { nullable: true })
  message(@Ctx() ctx: Context): string | null {
    return opened<string>(ctx, this.messageSealed, 'gift_message', this.id);
  }
}

/** The purchase of a gift on its way. Source: payments 2, 3.7. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'The purchase of a gift on its way.' })
@Entity({ tableName: 'gift_checkout_session' })
export class GiftCheckoutSession {
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

  @Property({ type: 'uuid' })
  giftId: string;

  @Field(() => BillingSessionStatus)
  @Enum({ items: () => BillingSessionStatus })
  status: BillingSessionStatus = BillingSessionStatus.OPEN;

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

  @Property({ type: new BigIntType('number'), fieldName: 'cash_applied' })
  cashAppliedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'credit_applied' })
  creditAppliedMinor: number = 0;

  @Property({ type: new BigIntType('number'), fieldName: 'total' })
  totalMinor: number;

  @Property({ type: 'text' })
  returnUrl: string;

  @Property({ type: 'blob' })
  tokenHash: Buffer;

  @Property({ type: 'blob', nullable: true })
  tokenSealed: Buffer | null = null;

  @Property({ type: 'uuid', nullable: true })
  paymentMethodId: string | null = null;

  @Property({ type: 'uuid', nullable: true })
  paymentId: string | null = null;

  @Property({ type: 'boolean', nullable: true })
  firstPurchase: boolean | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  paidAt: Date | null = null;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'integer' })
  version: number = 1;

  @Field(() => CheckoutAmounts)
  get amounts(): CheckoutAmounts {
    return amountsOf(this);
  }
}
