/** What each scalar accepts on the wire, the message for what it does not, and its JSON Schema. No message repeats the value: it may be personal. */
import type { GraphQLScalarType } from 'graphql';
import { scalarMessage, SCALARS } from './scalar-formats.js';

/** The part of JSON Schema 2020-12 that scalars use. */
export interface ScalarSchema {
  type?: 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  pattern?: string;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  description?: string;
  examples?: readonly unknown[];
}

export interface ScalarFormat {
  accepts: (value: unknown) => boolean;
  /** `must be ...` */
  message: string;
  schema: ScalarSchema;
}

/** PostgreSQL text cannot hold U+0000, nor its JSON half a surrogate pair, so they are refused here. */
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0') && value.isWellFormed();

const MAX_INT = 2 ** 31 - 1;
const MIN_INT = -(2 ** 31);
const isInt = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= MIN_INT && (value as number) <= MAX_INT;

const BUILT_IN: Readonly<Record<string, ScalarFormat>> = {
  ID: { accepts: value => isText(value) && value !== '', message: 'must be a non-empty string', schema: { type: 'string', minLength: 1 } },
  String: { accepts: isText, message: 'must be a string', schema: { type: 'string' } },
  Int: { accepts: isInt, message: 'must be an integer', schema: { type: 'integer', format: 'int32' } },
  Float: { accepts: Number.isFinite, message: 'must be a number', schema: { type: 'number' } },
  Boolean: { accepts: value => typeof value === 'boolean', message: 'must be true or false', schema: { type: 'boolean' } },
  JSON: { accepts: () => true, message: '', schema: {} },
};

/** Schemas that are plainer than the validator's own; the long patterns of graphql-scalars help no reader. */
const SCHEMAS: Readonly<Record<string, ScalarSchema>> = {
  SafeInt: { type: 'integer', format: 'int64', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  DateTime: { type: 'string', format: 'date-time', examples: ['2026-08-01T08:00:00.000Z'] },
  Date: { type: 'string', format: 'date', examples: ['2026-08-01'] },
  EmailAddress: { type: 'string', format: 'email' },
  URL: { type: 'string', format: 'uri' },
  PhoneNumber: { type: 'string', pattern: '^\\+[1-9][0-9]{1,14}$', examples: ['+12025550123'] },
  TimeZone: { type: 'string', examples: ['America/New_York'] },
  Locale: { type: 'string', examples: ['en-US'] },
  CurrencyCode: { type: 'string', pattern: '^[A-Z]{3}$', examples: ['USD'] },
  CountryCode: { type: 'string', pattern: '^[A-Z]{2}$', examples: ['US'] },
};

const typeName = (schema: ScalarSchema): string => (schema.type === 'integer' ? 'number' : (schema.type ?? ''));

/**
 * Whether the value is of the documented JSON type and pattern and the validator takes it: some validators also take time stamps as
 * numbers, or currencies in lower case.
 */
function validates(scalar: GraphQLScalarType, schema: ScalarSchema): (value: unknown) => boolean {
  const pattern = schema.pattern === undefined ? null : new RegExp(schema.pattern, 'u');
  return value => {
    if (schema.type !== undefined && typeof value !== typeName(schema)) return false;
    if (pattern && !pattern.test(value as string)) return false;
    try {
      scalar.parseValue(value);
      return true;
    } catch {
      return false;
    }
  };
}

/** Format of a scalar; one that nobody described passes as it is and is judged by its service. */
export function scalarFormat(type: GraphQLScalarType): ScalarFormat {
  const known = BUILT_IN[type.name];
  if (known) return known;
  const scalar = SCALARS.get(type.name) ?? type;
  const schema = SCHEMAS[type.name] ?? (scalar.extensions.jsonSchema as ScalarSchema | undefined) ?? {};
  return { accepts: validates(scalar, schema), message: scalarMessage(type.name), schema };
}
