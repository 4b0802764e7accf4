import {
  BREAK,
  execute,
  Kind,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { fail } from '../../runtime/request/errors.js';
import type { Executor, FederatedOperation, FederatedResult } from '../plans/executor.js';

const isIntrospection = (name: string): boolean => name === '__schema' || name === '__type';

/** Whether a document asks for the schema itself. */
export function asksIntrospection(document: DocumentNode): boolean {
  let asks = false;
  visit(document, {
    Field({ name }) {
      asks = isIntrospection(name.value);
      return asks ? BREAK : undefined;
    },
  });
  return asks;
}

/** Lists of the introspection types whose members lead back to types: one within another multiplies, in a circle without end. */
const CIRCULAR = new Set(['fields', 'inputFields', 'interfaces', 'possibleTypes']);

function refuse(what: string): never {
  fail('invalid_request', `Introspection ${what}`, { reason: 'document_too_complex' });
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** @param inList whether a list of {@link CIRCULAR} is above. */
function checkSchemaSelection(set: SelectionSetNode | undefined, fragments: Fragments, inList: boolean): void {
  for (const selection of set?.selections ?? []) {
    if (selection.kind !== Kind.FIELD) {
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      checkSchemaSelection(fragment?.selectionSet, fragments, inList);
      continue;
    }
    if (selection.alias && selection.selectionSet) refuse('takes no aliases');
    const isList = CIRCULAR.has(selection.name.value);
    if (isList && inList) refuse('must not ask for the fields of the types of fields');
    checkSchemaSelection(selection.selectionSet, fragments, inList || isList);
  }
}

/**
 * Introspection is one answer of bounded size: the schema once, no list of types within another, no aliases that repeat one. The usual
 * introspection queries pass. Cyclic fragments must have been refused before. @throws Problem invalid_request
 */
export function limitIntrospection(document: DocumentNode): void {
  if (!asksIntrospection(document)) return;
  const fragments = new Map(document.definitions.filter(one => one.kind === Kind.FRAGMENT_DEFINITION).map(one => [one.name.value, one]));
  let schemas = 0;
  visit(document, {
    Field({ name, selectionSet }) {
      if (!isIntrospection(name.value)) return undefined;
      if (name.value === '__schema' && ++schemas > 1) refuse('asks for the schema more than once');
      checkSchemaSelection(selectionSet, fragments, false);
      return false;
    },
  });
}

/** Whether no subgraph is asked: every root field of the document's only operation is an introspection field. */
function isPureIntrospection({ definitions }: DocumentNode): boolean {
  const operations = definitions.filter(one => one.kind === Kind.OPERATION_DEFINITION);
  const isOwn = (name: string): boolean => isIntrospection(name) || name === '__typename';
  return (
    operations.length === 1 &&
    operations[0]!.selectionSet.selections.every(one => one.kind === Kind.FIELD && isOwn(one.name.value)) &&
    asksIntrospection(operations[0] as unknown as DocumentNode)
  );
}

/**
 * Answers pure introspection with graphql-js on the API schema, which knows all of it; the planner does not (`isOneOf`). The usual
 * document has no variables, so its answer is made once: half a megabyte that otherwise costs a fifth of a second each time.
 */
export function answeringIntrospection(next: Executor, apiSchema: GraphQLSchema): Executor {
  const answers = new WeakMap<DocumentNode, FederatedResult>();
  const run = async ({ document, operationName, variables }: FederatedOperation): Promise<FederatedResult> => {
    const { data, errors } = await execute({ schema: apiSchema, document, operationName, variableValues: variables });
    return { data: (data ?? null) as Record<string, unknown> | null, errors: errors ?? [] };
  };
  const answerOf = async (operation: FederatedOperation): Promise<FederatedResult> => {
    if (Object.keys(operation.variables).length > 0) return run(operation);
    const known = answers.get(operation.document);
    if (known) return known;
    const answer = await run(operation);
    answers.set(operation.document, answer);
    return answer;
  };
  return {
    prepare: operation => next.prepare?.(operation),
    execute: (operation, request) => (isPureIntrospection(operation.document) ? answerOf(operation) : next.execute(operation, request)),
  };
}
