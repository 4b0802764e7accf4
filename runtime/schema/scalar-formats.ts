import { isScalarType, type GraphQLScalarType } from 'graphql';
import * as suite from './suite-scalars.js';

/** The suite's scalars with their validators. In a schema printed from SDL scalars have none, so they are found by name. */
export const SCALARS: ReadonlyMap<string, GraphQLScalarType> = new Map(
  Object.values(suite)
    .filter(isScalarType)
    .map(scalar => [scalar.name, scalar]),
);

const MESSAGES: Readonly<Record<string, string>> = {
  DateTime: 'must be an RFC 3339 instant such as 2026-08-01T08:00:00.000Z',
  Date: 'must be a date, YYYY-MM-DD',
  EmailAddress: 'must be an e-mail address',
  URL: 'must be an absolute URL',
  PhoneNumber: 'must be a phone number in E.164 form',
  TimeZone: 'must be an IANA time zone',
  Locale: 'must be a BCP 47 locale',
  CurrencyCode: 'must be an ISO 4217 currency code',
  CountryCode: 'must be an ISO 3166-1 alpha-2 country code',
  SafeInt: 'must be an integer',
};

/** `must be ...`: what a custom scalar takes. Never the value, which may be personal. */
export const scalarMessage = (name: string): string => MESSAGES[name] ?? `must be a ${name}`;
