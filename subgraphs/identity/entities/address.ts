import { Entity, Enum, ManyToOne, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Directive, Field, ID, Int, ObjectType } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { newId } from '../../../runtime/data/ids.js';
import { connectionOf } from '../../../runtime/request/paging.js';
import { registerEnums } from '../../../runtime/schema/enums.js';
import { DateTime, PhoneNumber, PostalAddress } from '../../../runtime/schema/scalars.js';
import { User } from './user.js';

export enum AddressValidation {
  UNCHECKED = 'unchecked',
  VALID = 'valid',
  CORRECTED = 'corrected',
  UNDELIVERABLE = 'undeliverable',
}

export enum UserAddressDefault {
  SHIPPING = 'shipping',
  BILLING = 'billing',
  BOTH = 'both',
}
registerEnums(
  { AddressValidation, UserAddressDefault },
  { AddressValidation: 'What a check of the address against post office data found.' },
);

/** One entry of a user's address book. Everything but ids, flags and times is personal. */
@Access({ service: 'admin:identity|admin:commerce', user: 'read:account', staff: 'admin:identity:read' })
@Directive('@key(fields: "id")')
@ObjectType({ description: "One entry of a user's address book." })
@Entity({ tableName: 'user_address' })
export class UserAddress {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => ID)
  @ManyToOne({ entity: () => User, mapToPk: true, fieldName: 'user_id' })
  userId: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  label: string | null = null;

  @Field(() => String)
  @Property({ type: 'text' })
  recipient: string;

  @Field(() => PhoneNumber, { nullable: true, description: 'E.164.' })
  @Property({ type: 'text', nullable: true })
  phone: string | null = null;

  @Property({ type: 'text' })
  line1: string;

  @Property({ type: 'text', nullable: true })
  line2: string | null = null;

  @Property({ type: 'text' })
  city: string;

  @Property({ type: 'text', nullable: true })
  region: string | null = null;

  @Property({ type: 'text', nullable: true })
  postalCode: string | null = null;

  @Property({ type: 'text' })
  countryCode: string;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: false })
  isDefaultShipping: boolean = false;

  @Field(() => Boolean)
  @Property({ type: 'boolean', default: false })
  isDefaultBilling: boolean = false;

  @Field(() => AddressValidation)
  @Enum({ items: () => AddressValidation, type: 'text', default: AddressValidation.UNCHECKED })
  validated: AddressValidation = AddressValidation.UNCHECKED;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date;

  @Field(() => Int)
  @Property({ type: 'integer', default: 1, version: true })
  version: number;

  @Field(() => PostalAddress)
  get address(): PostalAddress {
    const { line1, line2, city, region, postalCode, countryCode } = this;
    return { line1, line2, city, region, postalCode, countryCode };
  }
}

export const UserAddressConnection = connectionOf(UserAddress, 'UserAddress');
