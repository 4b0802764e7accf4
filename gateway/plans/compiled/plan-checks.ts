import type { FetchNode, QueryPlanSelectionNode } from '@apollo/query-planner';
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { EntityKeys } from './entity-keys.js';
import { ExternalFields } from './external-fields.js';
import { RequiredArguments } from './required-arguments.js';

interface Fetched extends Pick<FetchNode, 'serviceName' | 'operation'> {
  readonly requires?: readonly QueryPlanSelectionNode[];
}

/** Where the planner is known to be wrong. An operation whose plan would answer wrong values is refused. */
export class PlanChecks {
  readonly #required: RequiredArguments;
  readonly #keys: EntityKeys;
  readonly #external: ExternalFields;

  constructor(supergraph: GraphQLSchema) {
    [this.#required, this.#keys, this.#external] = [
      new RequiredArguments(supergraph),
      new EntityKeys(supergraph),
      new ExternalFields(supergraph),
    ];
  }

  /** Whether fields of the operation need one field with different arguments. */
  hasConflict(document: DocumentNode, operation: OperationDefinitionNode): boolean {
    return this.#required.conflictIn(document, operation) !== null;
  }

  /** @throws GraphQLError for an operation with a conflict. */
  checkOperation(document: DocumentNode, operation: OperationDefinitionNode): void {
    this.#required.check(document, operation);
  }

  /** @throws GraphQLError for a fetch that its subgraph cannot answer. */
  checkFetch({ serviceName, requires, operation }: Fetched): void {
    if (requires) this.#keys.check(serviceName, requires);
    this.#external.check(serviceName, operation);
  }
}
