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
