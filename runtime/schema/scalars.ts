import 'reflect-metadata';
import { Directive, Field, Float, InputType, ObjectType } from 'type-graphql';
import { Rule } from './constraints.js';
import { CountryCode, CurrencyCode, SafeInt } from './suite-scalars.js';

/** Whoever declares no types takes them from there, for this file loads type-graphql. */
export {
  CountryCode,
  CurrencyCode,
  DateTime,
  EmailAddress,
  JSONObject,
  Locale,
  LocalDate,
  PhoneNumber,
  SafeInt,
  TimeZone,
  Url,
} from './suite-scalars.js';

/** A measured value with its UCUM unit. Source: conventions 3. */
@Directive('@shareable')
@ObjectType({ description: 'A measured value with its UCUM unit.' })
export class Quantity {
  @Field(() => Float)
  value: number;

  @Field(() => String)
  unit: string;
}

@InputType({ description: 'A measured value with its UCUM unit.' })
export class QuantityInput {
  @Field(() => Float)
  value: number;

  @Rule({ minLength: 1, maxLength: 64 })
  @Field(() => String)
  unit: string;
}

/** Money in minor units of an ISO 4217 currency. Source: conventions 3. */
@Directive('@shareable')
@ObjectType({ description: 'Amount in minor units of a currency.' })
export class Money {
  @Field(() => SafeInt)
  amount: number;

  @Field(() => CurrencyCode)
  currency: string;
}

@InputType({ description: 'Amount in minor units of a currency.' })
export class MoneyInput {
  @Rule({ min: 0 })
  @Field(() => SafeInt)
  amount: number;

  @Field(() => CurrencyCode)
  currency: string;
}

/** A postal address. Personal. Source: conventions 3. */
@Directive('@shareable')
@ObjectType({ description: 'A postal address.' })
export class PostalAddress {
  @Field(() => String)
  line1: string;

  @Field(() => String, { nullable: true })
  line2: string | null;

  @Field(() => String)
  city: string;

  @Field(() => String, { nullable: true })
  region: string | null;

  @Field(() => String, { nullable: true })
  postalCode: string | null;

  @Field(() => CountryCode, { description: 'ISO 3166-1 alpha-2.' })
  countryCode: string;
}

/** Where a page ends. Source: conventions 4. */
@Directive('@shareable')
@ObjectType({ description: 'Where a page ends.' })
export class PageInfo {
  @Field(() => String, { nullable: true })
  endCursor: string | null;

  @Field(() => Boolean)
  hasNextPage: boolean;
}
