import { computeResponse } from '@apollo/gateway/dist/resultShaping.js';
import { operationFromDocument, type Operation, type Schema } from '@apollo/federation-internals';
import { isPlanNode, type PlanNode, type QueryPlanner } from '@apollo/query-planner';
import type { DocumentNode, GraphQLError } from 'graphql';
import type { Row, Variables } from './rows.js';
import { UnknownPlan } from './steps.js';

/** An operation as the planner reads it; read again at the first call, because it is needed rarely and takes as much room as what is compiled of it. */
export type PlannedOperation = () => Operation;

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

/** The federation's own view of a supergraph. */
export interface Planning {
  planner: QueryPlanner;
  /** What clients may see. */
  api: Schema;
}

/** The planner of a loaded supergraph. */
export function plannerOf(planning: () => Planning): Planner {
  return {
    plan(document, operationName) {
      const { planner, api } = planning();
      const read = (): Operation => operationFromDocument(api, document, { operationName });
      const { node } = planner.buildQueryPlan(read());
      if (node !== undefined && !isPlanNode(node)) throw new UnknownPlan(`a plan node ${node.kind}`);
      let again: Operation | undefined;
      return { planned: () => (again ??= read()), node };
    },
    shape: (planned, input, variables) => computeResponse({ operation: planned(), input, variables, introspectionHandling: () => null }),
  };
}
