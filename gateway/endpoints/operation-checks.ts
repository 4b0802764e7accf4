import { Kind, OperationTypeNode, type DocumentNode, type GraphQLField, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { checkAccess, isMeField, ruleOnNode, type AccessRule } from '../../runtime/access/rules.js';
import type { Caller } from '../../runtime/request/caller.js';
import { fail } from '../../runtime/request/errors.js';
import { limitObjects } from '../limits/cost.js';
import type { CheckedDocument } from '../limits/validation.js';
import type { Variables } from '../plans/compiled/rows.js';
import { MAX_VALUE_ERRORS, variableErrors } from '../plans/compiled/variables.js';
import type { FederatedResult } from '../plans/executor.js';
import type { Gateway } from '../plans/gateway.js';

/** By the field's node, because each request asks. */
const rules = new WeakMap<object, AccessRule | null>();

function ruleOf({ astNode }: Partial<GraphQLField<unknown, unknown>> = {}): AccessRule | null {
  if (!astNode) return null;
  const known = rules.get(astNode);
  if (known !== undefined) return known;
  const rule = ruleOnNode(astNode);
  rules.set(astNode, rule);
  return rule;
}

function checkRootFields(supergraph: GraphQLSchema, operation: OperationDefinitionNode, caller: Caller): void {
  const type = operation.operation === OperationTypeNode.MUTATION ? supergraph.getMutationType() : supergraph.getQueryType();
  for (const selection of operation.selectionSet.selections) {
    if (selection.kind !== Kind.FIELD || selection.name.value.startsWith('__')) continue;
    checkAccess(ruleOf(type?.getFields()[selection.name.value]), caller);
    if (caller.kind === 'service' && isMeField(selection.name.value)) fail('forbidden', 'A service token has no user to act for');
  }
}

/**
 * Checks a client's operation before it runs: access to its root fields, then its cost. Access comes first, and before variables are coerced,
 * so that a 400 does not reveal what a 403 hides. Flags are checked by the subgraph. @throws Problem
 */
export function checkOperation(
  { supergraph, apiSchema }: Gateway,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
  caller: Caller,
): void {
  checkRootFields(supergraph, operation, caller);
  limitObjects(apiSchema, document, operation, variables);
}

/** Answer to an operation whose values do not fit their types: those of the document and those of the variables together. Null where the document's fit. */
export function refuseValues(
  { apiSchema }: Gateway,
  { invalidValues }: CheckedDocument,
  operation: OperationDefinitionNode,
  variables: Variables,
): FederatedResult | null {
  if (invalidValues.length === 0) return null;
  const errors = [...invalidValues, ...variableErrors(apiSchema, operation, variables)].slice(0, MAX_VALUE_ERRORS);
  return { data: null, errors };
}
