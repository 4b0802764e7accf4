import { getVariableValues, GraphQLError, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { withoutValues } from '../../../runtime/request/graphql-messages.js';
import type { Variables } from './rows.js';

/** Errors of values that are reported; graphql-js stops at the same number. */
export const MAX_VALUE_ERRORS = 50;

/** Errors of variables that do not fit their types, without the values. */
export function variableErrors(schema: GraphQLSchema, operation: OperationDefinitionNode, variables: Variables): readonly GraphQLError[] {
  const { variableDefinitions } = operation;
  if (!variableDefinitions?.length) return [];
  const { errors = [] } = getVariableValues(schema, variableDefinitions, variables, { maxErrors: MAX_VALUE_ERRORS });
  return errors.map(({ message, nodes }) => new GraphQLError(withoutValues(message), { nodes, extensions: { code: 'BAD_USER_INPUT' } }));
}
