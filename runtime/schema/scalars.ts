import 'reflect-metadata';
import {
  GraphQLCountryCode,
  GraphQLCurrency,
  GraphQLDateTimeISO,
  GraphQLEmailAddress,
  GraphQLJSON,
  GraphQLLocale,
  GraphQLLocalDate,
  GraphQLPhoneNumber,
  GraphQLSafeInt,
  GraphQLTimeZone,
  GraphQLURL,
} from 'graphql-scalars';
import { GraphQLScalarType } from 'graphql';
import { Directive, Field, Float, InputType, ObjectType } from 'type-graphql';
import { Rule } from './constraints.js';

/** The same scalar under the suite's name for it. */
const named = (scalar: GraphQLScalarType, name: string, description: string): GraphQLScalarType =>
  new GraphQLScalarType({ ...scalar.toConfig(), name, description });

/** Remembers what was answered for a string; what is refused is thrown anew. A cache for few values: there are some 600 zones. */
function onceEach<T>(answer: (value: unknown) => T): (value: unknown) => T {
  const known = new Map<unknown, T>();
  return value => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const made = answer(value);
    if (known.size < 1000) known.set(value, made);
    return made;
  };
}

/**
 * Years that a caller may name: PostgreSQL has no year 0 and writes years of five digits in another way than JavaScript. The last century of
 * four digits is left for what is computed: ends of periods, expiry.
 */
const YEARS = { first: 1, last: 9899 } as const;

const yearOf = (value: unknown): number => (value instanceof Date ? value.getUTCFullYear() : Number(String(value).slice(0, 4)));

/** The scalar, of those years only. */
function withinYears(scalar: GraphQLScalarType): GraphQLScalarType {
  const checked = (value: unknown): unknown => {
    const year = yearOf(value);
    if (year < YEARS.first || year > YEARS.last) throw new TypeError(`The year must be between ${YEARS.first} and ${YEARS.last}`);
    return value;
  };
  const { parseValue, parseLiteral, ...config } = scalar.toConfig();
  return new GraphQLScalarType({
    ...config,
    parseValue: value => checked(parseValue(value)),
    parseLiteral: (node, variables) => checked(parseLiteral(node, variables)),
  });
}

/** Instant, UTC, milliseconds; REST shows RFC 3339 ending in `Z`. */
export const DateTime = withinYears(named(GraphQLDateTimeISO, 'DateTime', 'Instant in UTC with milliseconds, RFC 3339.'));
/** Civil date `YYYY-MM-DD`, a string in code. */
export const LocalDate = withinYears(named(GraphQLLocalDate, 'Date', 'Civil date, YYYY-MM-DD.'));
export const JSONObject = named(GraphQLJSON, 'JSON', 'Free-form value; keys inside are never renamed.');
export const CurrencyCode = named(GraphQLCurrency, 'CurrencyCode', 'ISO 4217 currency code.');
export const SafeInt = GraphQLSafeInt;
export const EmailAddress = GraphQLEmailAddress;
export const PhoneNumber = GraphQLPhoneNumber;
export const Url = named(GraphQLURL, 'URL', 'Absolute URL.');
/** Each name is looked up once: the lookup builds a date format, 9 % of the time of a read that shows a zone. */
export const TimeZone = new GraphQLScalarType({ ...GraphQLTimeZone.toConfig(), serialize: onceEach(GraphQLTimeZone.serialize) });
export const Locale = GraphQLLocale;
export const CountryCode = GraphQLCountryCode;

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
