import type { ApolloGateway } from '@apollo/gateway';
import { computeResponse } from '@apollo/gateway/dist/resultShaping.js';
import { operationFromDocument, type Operation } from '@apollo/federation-internals';
import { isPlanNode, type PlanNode } from '@apollo/query-planner';
import type { DocumentNode, GraphQLError } from 'graphql';
import type { Row, Variables } from './rows.js';
import { UnknownPlan } from './steps.js';

/** An operation as the planner reads it. */
export type PlannedOperation = Operation;

interface Plan {
  planned: PlannedOperation;
  /** Absent where no subgraph is asked: `{ __typename }`. */
  node: PlanNode | undefined;
}

/** What the compiled executor uses of @apollo/gateway: its plans, and its report of values that do not fit their types. */
export interface Planner {
  /** @throws UnknownPlan for a subscription; GraphQLError when there is no plan. */
  plan(document: DocumentNode, operationName: string | undefined): Plan;
  shape(planned: PlannedOperation, data: Row, variables: Variables): { data: Row | null | undefined; errors: GraphQLError[] };
}

/**
 * The planner of a loaded gateway. The fields are private, but TypeScript checks access in brackets, so an upgrade that renames one does
 * not compile. A second planner over the same supergraph would cost its start and its memory again.
 */
export function plannerOf(gateway: ApolloGateway): Planner {
  const [planner, api] = [gateway['queryPlanner']!, gateway['apiSchema']!];
  return {
    plan(document, operationName) {
      const planned = operationFromDocument(api, document, { operationName });
      const { node } = planner.buildQueryPlan(planned);
      if (node !== undefined && !isPlanNode(node)) throw new UnknownPlan(`a plan node ${node.kind}`);
      return { planned, node };
    },
    shape: (operation, input, variables) => computeResponse({ operation, input, variables, introspectionHandling: () => null }),
  };
}
