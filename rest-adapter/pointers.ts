/** A subgraph names a violation by argument (`/input/baseline/unit`); the caller wrote `/baseline/unit`. */
import { getNullableType, isInputObjectType, isListType, type GraphQLInputType } from 'graphql';
import type { InputSource, Variable } from './sources.js';
import { toSnake } from '../runtime/schema/wire-names.js';

const join = (segments: readonly string[]): string => segments.map(one => `/${one}`).join('');

/** Renames the keys of input objects and leaves the inside of a `JSON` scalar alone. */
function wireTail(type: GraphQLInputType, segments: readonly string[]): string[] {
  const [first, ...rest] = segments;
  if (first === undefined) return [];
  const bare = getNullableType(type);
  if (isListType(bare)) return [first, ...wireTail(bare.ofType, rest)];
  const field = isInputObjectType(bare) ? bare.getFields()[first] : undefined;
  return field ? [toSnake(first), ...wireTail(field.type, rest)] : [...segments];
}

/** Wire name of an input's field: the parameter that gives it, else its snake_case. */
const wireNameOf = ({ path, query }: InputSource, name: string): string =>
  [...Object.entries(path), ...Object.entries(query)].find(([, field]) => field === name)?.[0] ?? toSnake(name);

function inVariable({ source, type }: Variable, segments: readonly string[]): string[] {
  const tail = wireTail(type, segments);
  if (source.from === 'constant') return tail;
  if (source.from !== 'input') return [source.name, ...tail];
  return segments[0] === undefined ? [] : [wireNameOf(source, segments[0]), ...tail.slice(1)];
}

const begins = (whole: readonly string[], part: readonly string[]): boolean => part.every((one, index) => whole[index] === one);

/**
 * Translates the pointers of a subgraph.
 * @returns a function; a pointer that names no argument only gets its keys in snake_case, one to all variables is the whole body.
 */
export function pointerTranslator(variables: readonly Variable[]): (pointer: string) => string {
  return pointer => {
    const segments = pointer.split('/').slice(1);
    const variable = variables.find(({ at }) => begins(segments, at));
    if (variable) return join(inVariable(variable, segments.slice(variable.at.length)));
    return variables.some(({ at }) => begins(at, segments)) ? '' : join(segments.map(toSnake));
  };
}
