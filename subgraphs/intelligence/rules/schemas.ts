import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Violation } from '../../../runtime/request/errors.js';

const ajv = new Ajv2020({ allErrors: true, strict: false });
const MAX_KEYS = 50;
const KEY = /^[a-z][a-z0-9_]{0,63}$/;

/** Names of measured values, contact data and free text: none of them may enter the ledger. Source: intelligence 7.3.18, conventions 9. */
const REFUSED =
  /(^|_)(value|values|raw|reading|measurement|result|concentration|mg_dl|mmol|email|mail|phone|mobile|address|street|postal_code|zip|name|surname|birth|dob|ssn|text|note|notes|comment|message|free_text|description|ip)(_|$)/;

const SCALARS = ['number', 'integer', 'boolean', 'string'];

interface Property {
  type?: unknown;
  enum?: unknown;
  pattern?: unknown;
  maxLength?: unknown;
}

/** A number, a boolean, an enum or a code; a string without bounds would be free text. */
function propertyViolation({ type, enum: codes, pattern, maxLength }: Property): string | null {
  if (codes !== undefined)
    return Array.isArray(codes) && codes.every(one => typeof one !== 'object') ? null : 'must be an enum of plain values';
  if (!SCALARS.includes(type as string)) return 'must be a number, a boolean, an enum or a code';
  const bounded = typeof pattern === 'string' || (typeof maxLength === 'number' && maxLength <= 64);
  return type === 'string' && !bounded ? 'a string needs a pattern or a maxLength of at most 64' : null;
}

/** What is wrong with a context, candidate or feature schema. Source: intelligence 2, RankingPolicy. */
export function schemaViolations(schema: unknown, pointer: string): Violation[] {
  const { type, properties } = (schema ?? {}) as { type?: unknown; properties?: unknown };
  if (type !== 'object' || properties === null || typeof properties !== 'object')
    return [{ pointer, message: 'must be a JSON Schema of an object with properties' }];
  const entries = Object.entries(properties as Record<string, Property>);
  const found = entries.flatMap(([key, property]) => {
    const message = !KEY.test(key)
      ? 'is no key'
      : REFUSED.test(key)
        ? 'looks like a raw value, contact data or free text'
        : propertyViolation(property);
    return message ? [{ pointer: `${pointer}/properties/${key}`, message }] : [];
  });
  if (entries.length > MAX_KEYS) found.push({ pointer: `${pointer}/properties`, message: `may have at most ${MAX_KEYS} keys` });
  return found.length ? found : compileViolation(schema as object, pointer);
}

function compileViolation(schema: object, pointer: string): Violation[] {
  try {
    ajv.compile(schema);
    return [];
  } catch (error) {
    return [{ pointer, message: `is no JSON Schema: ${(error as Error).message}`.slice(0, 300) }];
  }
}

/** Compiled once for the text of a schema: policies are few and rarely change. */
const compiled = new Map<string, ValidateFunction>();
/** The same by object: fifty candidates of a ranking have one schema, whose text need not be written fifty times. */
const found = new WeakMap<object, ValidateFunction>();

function validatorOf(schema: object): ValidateFunction {
  const known = found.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema);
  let validate = compiled.get(text);
  if (!validate) {
    if (compiled.size >= 1000) compiled.clear();
    compiled.set(text, (validate = ajv.compile({ ...schema, additionalProperties: false })));
  }
  found.set(schema, validate);
  return validate;
}

function violationOf({ instancePath, params, message }: ErrorObject, pointer: string): Violation {
  const extra = (params as { additionalProperty?: string }).additionalProperty;
  const missing = (params as { missingProperty?: string }).missingProperty;
  const at = extra ?? missing;
  return {
    pointer: `${pointer}${instancePath}${at === undefined ? '' : `/${at}`}`,
    message: extra === undefined ? (message ?? 'is invalid') : 'is not known',
  };
}

/** Every violation of values under a schema; an unknown key is one. */
export function valueViolations(schema: object, values: unknown, pointer: string): Violation[] {
  const validate = validatorOf(schema);
  return validate(values) ? [] : validate.errors!.map(error => violationOf(error, pointer));
}
