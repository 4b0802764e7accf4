import { Field, ID, InputType, Int } from 'type-graphql';
import { Rule } from '../../../runtime/schema/constraints.js';
import { CountryCode, PhoneNumber } from '../../../runtime/schema/scalars.js';
import { UserAddressDefault } from '../entities/address.js';
import { FILLED_LINE, ONE_LINE } from './text.js';

@InputType({ description: 'A postal address. The postal code is checked against the form that its country uses.' })
export class PostalAddressInput {
  @Rule({ maxLength: 120, pattern: FILLED_LINE })
  @Field(() => String)
  line1: string;

  @Rule({ maxLength: 120, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  line2?: string | null;

  @Rule({ maxLength: 80, pattern: FILLED_LINE })
  @Field(() => String)
  city: string;

  @Rule({ maxLength: 80, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  region?: string | null;

  @Rule({ minLength: 2, maxLength: 16, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true })
  postalCode?: string | null;

  @Field(() => CountryCode)
  countryCode: string;
}

@InputType({ description: 'Parts of a postal address to change.' })
export class PostalAddressPatchInput {
  @Rule({ maxLength: 120, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true })
  line1?: string | null;

  @Rule({ maxLength: 120, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  line2?: string | null;

  @Rule({ maxLength: 80, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true })
  city?: string | null;

  @Rule({ maxLength: 80, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  region?: string | null;

  @Rule({ minLength: 2, maxLength: 16, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true })
  postalCode?: string | null;

  @Field(() => CountryCode, { nullable: true })
  countryCode?: string | null;
}

@InputType({ description: 'A new entry of the address book. The first one becomes both defaults.' })
export class AddUserAddressInput {
  @Field(() => ID, { nullable: true, description: 'Required for a service token.' })
  userId?: string | null;

  @Rule({ maxLength: 40, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  label?: string | null;

  @Rule({ maxLength: 100, pattern: FILLED_LINE })
  @Field(() => String)
  recipient: string;

  @Field(() => PhoneNumber, { nullable: true })
  phone?: string | null;

  @Field(() => PostalAddressInput)
  address: PostalAddressInput;

  @Field(() => Boolean, { nullable: true })
  isDefaultShipping?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  isDefaultBilling?: boolean | null;
}

@InputType({ description: 'Changes an entry of the address book; what is not given stays, null clears.' })
export class UpdateUserAddressInput {
  @Field(() => ID)
  id: string;

  @Field(() => ID, { nullable: true, description: 'Required for a service token.' })
  userId?: string | null;

  @Field(() => Int, { nullable: true, description: 'The version that the change is based on.' })
  version?: number | null;

  @Rule({ maxLength: 40, pattern: ONE_LINE })
  @Field(() => String, { nullable: true })
  label?: string | null;

  @Rule({ maxLength: 100, pattern: FILLED_LINE })
  @Field(() => String, { nullable: true })
  recipient?: string | null;

  @Field(() => PhoneNumber, { nullable: true })
  phone?: string | null;

  @Field(() => PostalAddressPatchInput, { nullable: true })
  address?: PostalAddressPatchInput | null;

  @Field(() => Boolean, { nullable: true })
  isDefaultShipping?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  isDefaultBilling?: boolean | null;
}

@InputType({ description: 'Which default an address becomes.' })
export class SetDefaultUserAddressInput {
  @Field(() => ID)
  id: string;

  @Field(() => ID, { nullable: true, description: 'Required for a service token.' })
  userId?: string | null;

  @Field(() => UserAddressDefault, { defaultValue: UserAddressDefault.BOTH })
  kind: UserAddressDefault = UserAddressDefault.BOTH;
}
