import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Ctx, Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { CountryCode, DateTime, PostalAddress } from '../../../runtime/schema/scalars.js';
import type { Context } from '../../../runtime/request/context.js';
import { opened } from './sealed.js';
import { VIEWERS } from './access.js';
import { PaymentMethodStatus, PaymentMethodType } from './enums-payment.js';

@ObjectType({ description: 'What is printed on a card, without its number.' })
export class CardDetails {
  @Field(() => String)
  brand: string;

  @Field(() => String)
  last4: string;

  @Field(() => Int)
  expMonth: number;

  @Field(() => Int)
  expYear: number;

  @Field(() => String, { description: 'credit, debit, prepaid or unknown.' })
  funding: string;

  @Field(() => CountryCode, { nullable: true })
  country: string | null;

  @Field(() => String, { nullable: true, description: 'Wallet that the card is in.' })
  wallet: string | null;
}

/** A card or account of a customer, as a token of the processor. Token and fingerprint are never shown. Source: payments 2. */
@Access(VIEWERS)
@Directive('@key(fields: "id")')
@ObjectType({ description: 'A card or account that pays.' })
@Entity({ tableName: 'payment_method' })
export class PaymentMethod {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'uuid' })
  customerId: string;

  @Property({ type: 'uuid' })
  userId: string;

  @Field(() => PaymentMethodType)
  @Enum({ items: () => PaymentMethodType })
  type: PaymentMethodType;

  @Field(() => PaymentMethodStatus)
  @Enum({ items: () => PaymentMethodStatus })
  status: PaymentMethodStatus = PaymentMethodStatus.ACTIVE;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  isDefault: boolean = false;

  @Property({ type: 'blob', nullable: true })
  tokenSealed: Buffer | null = null;

  @Property({ type: 'blob', nullable: true })
  fingerprint: Buffer | null = null;

  @Property({ type: 'text', nullable: true })
  cardBrand: string | null = null;

  @Property({ type: 'text', nullable: true })
  cardLast4: string | null = null;

  @Property({ type: 'integer', nullable: true })
  cardExpMonth: number | null = null;

  @Property({ type: 'integer', nullable: true })
  cardExpYear: number | null = null;

  @Property({ type: 'text', nullable: true })
  cardFunding: string | null = null;

  @Property({ type: 'string', columnType: 'char(2)', nullable: true })
  cardCountry: string | null = null;

  @Property({ type: 'text', nullable: true })
  cardWallet: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  bankLast4: string | null = null;

  @Property({ type: 'blob', nullable: true })
  billingAddressSealed: Buffer | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  detachedAt: Date | null = null;

  @Field(() => CardDetails, { nullable: true })
  get card(): CardDetails | null {
    const { cardBrand: brand, cardLast4: last4, cardExpMonth: expMonth, cardExpYear: expYear } = this;
    if (brand === null || last4 === null || expMonth === null || expYear === null) return null;
    return { brand, last4, expMonth, expYear, funding: this.cardFunding ?? 'unknown', country: this.cardCountry, wallet: this.cardWallet };
  }

  @Field(() => PostalAddress, { nullable: true })
  billingAddress(@Ctx() ctx: Context): PostalAddress | null {
    return opened<PostalAddress>(ctx, this.billingAddressSealed, 'payment_method', this.id);
  }
}
