/** A subgraph names a violation by argument (`/input/baseline/unit`); the caller wrote `/baseline/unit`. */
import {
  getNullableType,
  isInputObjectType,
  isListType,
  Kind,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type ValueNode,
} from 'graphql';
import type { Source } from './route.js';
import { toSnake } from './wire.js';
import { wireNameOf } from './variables.js';

export interface Located {
  node: FieldNode;
  field: GraphQLField<unknown, unknown>;
}

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

function throughSource(source: Source | undefined, type: GraphQLInputType, segments: readonly string[]): string[] {
  const tail = wireTail(type, segments);
  if (source === undefined || source.from === 'constant') return tail;
  if (source.from === 'input') return segments[0] === undefined ? [] : [wireNameOf(source, segments[0]), ...tail.slice(1)];
  return 'name' in source ? [source.name, ...tail] : tail;
}

/** Follows an argument's value in the document down to the variable that the segments point into. */
function throughValue(
  value: ValueNode,
  type: GraphQLInputType,
  segments: readonly string[],
  sources: ReadonlyMap<string, Source>,
): string[] {
  if (value.kind === Kind.VARIABLE) return throughSource(sources.get(value.name.value), type, segments);
  const [first, ...rest] = segments;
  const bare = getNullableType(type);
  if (value.kind !== Kind.OBJECT || !isInputObjectType(bare) || first === undefined) return wireTail(type, segments);
  const given = value.fields.find(field => field.name.value === first);
  const field = bare.getFields()[first];
  return given && field ? throughValue(given.value, field.type, rest, sources) : wireTail(type, segments);
}

function throughField({ node, field }: Located, segments: readonly string[], sources: ReadonlyMap<string, Source>): string[] | null {
  const argument: GraphQLArgument | undefined = field.args.find(one => one.name === segments[0]);
  const given = node.arguments?.find(one => one.name.value === segments[0]);
  return argument && given ? throughValue(given.value, argument.type, segments.slice(1), sources) : null;
}

/**
 * Translates pointers of the fields on the way to `result`, innermost first.
 * @returns a function; a pointer that names no argument only gets its keys in snake_case.
 */
export function pointerTranslator(fields: readonly Located[], sources: ReadonlyMap<string, Source>): (pointer: string) => string {
  return pointer => {
    const segments = pointer.split('/').slice(1);
    for (const located of [...fields].reverse()) {
      const found = throughField(located, segments, sources);
      if (found) return join(found);
    }
    return join(segments.map(toSnake));
  };
}
