/**
 * Readers of input: one walk turns wire JSON into a GraphQL value and lists every violation by JSON pointer (unknown and missing keys,
 * wrong types, enum values, constraints). Compiled once per input type. Source: conventions 5, 8.
 */
import {
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
} from 'graphql';
import type { Violation } from '../request/errors.js';
import { constraintOf, violationOf } from './violations.js';
import { scalarFormat } from './wire-scalars.js';
import { toSnake, toWireEnum } from './wire-names.js';

/** Reads a value that is present. Violations go to `found`; what it returns then is of no use. */
export type Read = (value: unknown, pointer: string, found: Violation[]) => unknown;

type Constrained = GraphQLInputField | GraphQLArgument;

/** A key in a pointer (RFC 6901), cut so that a caller's long key does not come back whole. */
export const segment = (key: string): string => key.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');

/** A JSON object: neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function addViolation(found: Violation[], pointer: string, message: string): undefined {
  found.push({ pointer, message });
  return undefined;
}

function scalarReader(type: GraphQLScalarType): Read {
  const { accepts, message } = scalarFormat(type);
  return (value, pointer, found) => (accepts(value) ? value : addViolation(found, pointer, message));
}

/** How many values of an enum a message names. */
const NAMED_VALUES = 30;

/** `R4`: the proper name of a release, which is as good as it stands. */
const PROPER = /^[A-Z]\d+$/;

function enumReader(type: GraphQLEnumType): Read {
  const values = type.getValues().map(({ name }) => name);
  const names = new Map(values.map(name => [toWireEnum(name), name]));
  const shown = [...names.keys()].slice(0, NAMED_VALUES).join(', ') + (names.size > NAMED_VALUES ? ', …' : '');
  for (const name of values.filter(one => PROPER.test(one))) names.set(name, name);
  return (value, pointer, found) => names.get(value as string) ?? addViolation(found, pointer, `must be one of ${shown}`);
}

function listReader(item: Read): Read {
  return (value, pointer, found) => {
    if (!Array.isArray(value)) return addViolation(found, pointer, 'must be a list');
    return value.map((one, index) => item(one, `${pointer}/${index}`, found));
  };
}

interface ObjectField {
  name: string;
  wire: string;
  required: boolean;
  read: Read;
}

/** Fields of an input by wire key; `without` are GraphQL names that the caller cannot set (they come from path or query). */
function fieldsOf(type: GraphQLInputObjectType, without: ReadonlySet<string>): Map<string, ObjectField> {
  const fields = Object.values(type.getFields()).filter(field => !without.has(field.name));
  return new Map(
    fields.map(field => {
      const wire = toSnake(field.name);
      return [wire, { name: field.name, wire, required: isRequiredInputField(field), read: fieldReader(field) }];
    }),
  );
}

function readKeys(
  fields: ReadonlyMap<string, ObjectField>,
  value: Record<string, unknown>,
  pointer: string,
  found: Violation[],
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = fields.get(key);
    if (field) out[field.name] = field.read(value[key], `${pointer}/${key}`, found);
    else addViolation(found, `${pointer}/${segment(key)}`, 'is not a known key');
  }
  return out;
}

/** `@oneOf`: exactly one key, and not null. */
export function checkOneOf(value: Record<string, unknown>, pointer: string, found: Violation[]): void {
  const keys = Object.keys(value);
  if (keys.length !== 1 || value[keys[0]!] === null) addViolation(found, pointer, 'must have exactly one key');
}

/** A reader of an input object; absent keys stay absent, null stays null (RFC 7396). */
export function objectReader(type: GraphQLInputObjectType, without: ReadonlySet<string> = new Set()): Read {
  const fields = fieldsOf(type, without);
  const required = [...fields.values()].filter(field => field.required);
  return (value, pointer, found) => {
    if (!isObject(value)) return addViolation(found, pointer, 'must be an object');
    const out = readKeys(fields, value, pointer, found);
    for (const { wire } of required) if (!Object.hasOwn(value, wire)) addViolation(found, `${pointer}/${wire}`, 'is required');
    if (type.isOneOf && without.size === 0) checkOneOf(out, pointer, found);
    return out;
  };
}

/** Input types may be recursive, so a type's reader is entered here before its fields are compiled. */
const readers = new WeakMap<GraphQLInputObjectType, Read>();

function sharedObjectReader(type: GraphQLInputObjectType): Read {
  if (!readers.has(type)) {
    readers.set(type, (value, pointer, found) => readers.get(type)!(value, pointer, found));
    readers.set(type, objectReader(type));
  }
  return (value, pointer, found) => readers.get(type)!(value, pointer, found);
}

function presentReader(type: GraphQLInputType): Read {
  if (isListType(type)) return listReader(readerOf(type.ofType));
  if (isEnumType(type)) return enumReader(type);
  if (isInputObjectType(type)) return sharedObjectReader(type);
  return scalarReader(type as GraphQLScalarType);
}

/** Reader of a type, null included. */
export function readerOf(type: GraphQLInputType): Read {
  if (isNonNullType(type)) {
    const read = presentReader(type.ofType);
    return (value, pointer, found) => (value === null ? addViolation(found, pointer, 'must not be null') : read(value, pointer, found));
  }
  const read = presentReader(type);
  return (value, pointer, found) => (value === null ? null : read(value, pointer, found));
}

/** Reader of a field or argument: its type, then its `@constraint`, which for a list binds the items too. */
export function fieldReader(field: Constrained, read: Read = readerOf(field.type)): Read {
  const [rule, isList] = [constraintOf(field), isListType(getNullableType(field.type))];
  if (!rule) return read;
  return (value, pointer, found) => {
    const before = found.length;
    const out = read(value, pointer, found);
    if (found.length > before || value === null) return out;
    const message = violationOf(rule, value, isList);
    if (message) addViolation(found, pointer, message);
    if (isList && Array.isArray(value))
      value.forEach((item, index) => {
        const wrong = violationOf(rule, item);
        if (wrong) addViolation(found, `${pointer}/${index}`, wrong);
      });
    return out;
  };
}
