/** Path and query parameters: text, coerced by the variable's GraphQL type, then read like any other value. */
import { getNamedType, getNullableType, isListType, type GraphQLInputType } from 'graphql';
import type { Violation } from '../runtime/request/errors.js';
import { scalarFormat } from '../runtime/schema/wire-scalars.js';
import type { Usage } from './sources.js';
import { segment, type Read } from '../runtime/schema/wire-reader.js';

type Text = string | readonly string[];

/** A request as the adapter reads it. `body` is undefined for none. */
export interface WireRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, Text | undefined>>;
  readonly body: unknown;
}

/** One wire parameter, for reading and for OpenAPI. */
export interface Parameter {
  in: 'path' | 'query';
  name: string;
  type: GraphQLInputType;
  required: boolean;
  /** Argument or input field that it ends in, for its constraint, default and description. */
  usage: Usage;
}

/** Limits of `?limit=`. Source: conventions 4. */
export const PAGE_LIMIT = { min: 1, max: 100, standard: 20 } as const;

export type Values = Record<string, unknown>;
/** Adds to the values of one object: the variables, or one input. */
export type Step = (request: WireRequest, into: Values, found: Violation[]) => void;
const NUMERIC = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** Text -> JSON of the type; what does not fit stays text, and the reader refuses it. */
function coerceOne(type: GraphQLInputType, text: string): unknown {
  const named = getNamedType(type);
  const kind = 'getFields' in named || 'getValues' in named ? 'string' : scalarFormat(named).schema.type;
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return (kind === 'integer' || kind === 'number') && NUMERIC.test(text) ? Number(text) : text;
}

const splitList = (text: Text): string[] =>
  [text]
    .flat()
    .flatMap(part => part.split(','))
    .filter(part => part !== '');

/** A reader of a parameter's text. */
function textReader(type: GraphQLInputType, read: Read): Read {
  if (isListType(getNullableType(type)))
    return (text, pointer, found) =>
      read(
        splitList(text as Text).map(one => coerceOne(type, one)),
        pointer,
        found,
      );
  return (text, pointer, found) => {
    if (typeof text === 'string') return read(coerceOne(type, text), pointer, found);
    found.push({ pointer, message: 'must be given once' });
    return undefined;
  };
}

const textOf = (request: WireRequest, { in: part, name }: Parameter): Text | undefined =>
  part === 'path' ? request.params[name] : request.query[name];

/** Reads one parameter into `target`; a missing one is a violation only where it is required. */
export function parameterStep(parameter: Parameter, target: string, read: Read): Step {
  const readText = textReader(parameter.type, read);
  const pointer = `/${segment(parameter.name)}`;
  return (request, into, found) => {
    const text = textOf(request, parameter);
    if (text !== undefined) into[target] = readText(text, pointer, found);
    else if (parameter.required) found.push({ pointer, message: 'is required' });
  };
}

/** `?limit=`: out of range is refused, never clamped. */
export const limitReader: Read = (value, pointer, found) => {
  if (Number.isInteger(value) && (value as number) >= PAGE_LIMIT.min && (value as number) <= PAGE_LIMIT.max) return value;
  found.push({ pointer, message: `must be an integer from ${PAGE_LIMIT.min} to ${PAGE_LIMIT.max}` });
  return undefined;
};
