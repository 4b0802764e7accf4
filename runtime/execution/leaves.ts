import { GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, GraphQLString, type GraphQLLeafType, type GraphQLType } from 'graphql';

type Test = (value: unknown) => boolean;
const isString: Test = value => typeof value === 'string';

/** Values of the specified scalars that `serialize` and `parseValue` give back as they are; those come to all else. */
const AS_IT_IS = new Map<unknown, Test>([
  [GraphQLString, isString],
  [GraphQLID, isString],
  [GraphQLBoolean, value => typeof value === 'boolean'],
  [GraphQLInt, value => typeof value === 'number' && (value | 0) === value],
  [GraphQLFloat, Number.isFinite],
]);

/** Whether a value of a type needs nothing done; null where that is not known beforehand. */
export const asItIs = (type: GraphQLType): Test | null => AS_IT_IS.get(type) ?? null;

/** @throws Error where there is no result; the value is not named, because it may be one of health. */
function serialized(type: GraphQLLeafType, value: unknown): unknown {
  const result = type.serialize(value);
  if (result == null) throw new Error(`Expected \`${type.name}.serialize\` to return non-nullable value, returned: ${result}`);
  return result;
}

/** Completes scalars and enum values: null stays null, an error is thrown. */
export function completeLeaf(type: GraphQLLeafType, value: unknown): unknown {
  if (typeof value === 'string' && (type === GraphQLString || type === GraphQLID)) return value;
  if (value instanceof Error) throw value;
  return value == null ? null : serialized(type, value);
}
