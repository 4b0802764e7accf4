import { GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, GraphQLString, type GraphQLLeafType, type GraphQLType } from 'graphql';

type Test = (value: unknown) => boolean;
const isString: Test = value => typeof value === 'string';

/** Values of the built-in scalars that `serialize` and `parseValue` return unchanged. */
const UNCHANGED = new Map<unknown, Test>([
  [GraphQLString, isString],
  [GraphQLID, isString],
  [GraphQLBoolean, value => typeof value === 'boolean'],
  [GraphQLInt, value => typeof value === 'number' && (value | 0) === value],
  [GraphQLFloat, Number.isFinite],
]);

/** Tests whether a value of a type needs no conversion; null for a type without such a test. */
export const unchangedTest = (type: GraphQLType): Test | null => UNCHANGED.get(type) ?? null;

/** @throws Error for a result of null. Its message does not contain the value, which may be health data. */
function serialized(type: GraphQLLeafType, value: unknown): unknown {
  const result = type.serialize(value);
  if (result == null) throw new Error(`Expected \`${type.name}.serialize\` to return non-nullable value, returned: ${result}`);
  return result;
}

/** Completes scalars and enum values: null stays null, a returned error is thrown. */
export function completeLeaf(type: GraphQLLeafType, value: unknown): unknown {
  if (typeof value === 'string' && (type === GraphQLString || type === GraphQLID)) return value;
  if (value instanceof Error) throw value;
  return value == null ? null : serialized(type, value);
}
