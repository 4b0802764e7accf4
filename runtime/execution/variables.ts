import {
  getVariableValues,
  isListType,
  isNonNullType,
  isScalarType,
  typeFromAST,
  type GraphQLError,
  type GraphQLSchema,
  type GraphQLType,
  type VariableDefinitionNode,
} from 'graphql';
import { unchangedTest } from './leaves.js';
import type { Source, Variables } from './run.js';

/** Coerces the values of an operation's variables, or returns their errors. */
export type Coerce = (given: Variables) => { coerced?: Variables; errors?: readonly GraphQLError[] };

/** Variable errors that are reported; graphql-js stops at the same number. */
const MAX_ERRORS = 50;

interface Plain {
  readonly name: string;
  readonly mayBeAbsent: boolean;
  isDone(value: unknown): boolean;
}

/** `[_Any!]!`, the representations of a fetch, where `_Any` accepts any value unchanged. */
function isReferences(type: GraphQLType): boolean {
  const item = isListType(type) && isNonNullType(type.ofType) ? type.ofType.ofType : null;
  return isScalarType(item) && item.name === '_Any' && item.parseValue(PROBE) === PROBE;
}

const PROBE = Object.freeze({});
const isFull = (value: unknown): boolean => Array.isArray(value) && value.every(one => one !== null && one !== undefined);

const testOf = (type: GraphQLType): Plain['isDone'] | null => (isReferences(type) ? isFull : unchangedTest(type));

function plainOf(schema: GraphQLSchema, { variable, type: node, defaultValue }: VariableDefinitionNode): Plain | null {
  const type = typeFromAST(schema, node as never);
  const isDone = type && testOf(isNonNullType(type) ? type.ofType : type);
  return isDone ? { name: variable.name.value, mayBeAbsent: !isNonNullType(type) && !defaultValue, isDone } : null;
}

/** Scalars that need no conversion take a tenth of graphql-js's time. Any other variable is left to graphql-js, which also makes the errors. */
export function coercionOf({ schema, operation: { variableDefinitions = [] } }: Source): Coerce {
  const coerce: Coerce = given => getVariableValues(schema, variableDefinitions, given, { maxErrors: MAX_ERRORS });
  const plain = variableDefinitions.map(one => plainOf(schema, one));
  if (plain.includes(null)) return coerce;
  return given => {
    const coerced: Record<string, unknown> = {};
    for (const one of plain) {
      const { name, mayBeAbsent, isDone } = one!;
      if (!Object.hasOwn(given, name) && mayBeAbsent) continue;
      if (!Object.hasOwn(given, name) || !isDone(given[name])) return coerce(given);
      coerced[name] = given[name];
    }
    return { coerced };
  };
}
