import { GraphQLError } from 'graphql';
import type { SubgraphError } from './subgraph.js';

type Path = readonly (string | number)[];

/** An error of a subgraph at its path in the client's answer. `serviceName` is removed from it before it is sent (graphql-errors.ts). */
export function subgraphError(error: SubgraphError, service: string, path: Path | undefined): GraphQLError {
  const message = error.message || `Error while fetching subquery from service "${service}"`;
  const extensions = { ...error.extensions, code: error.extensions?.code ?? 'DOWNSTREAM_SERVICE_ERROR', serviceName: service };
  return new GraphQLError(message, { path, originalError: error as Error, extensions });
}

/** What a step threw, as an error at a path of the client's answer. */
export function asGraphqlError(error: unknown, path: Path | undefined): GraphQLError {
  const { extensions } = error as { extensions?: Readonly<Record<string, unknown>> };
  return new GraphQLError((error as Error).message, { path, originalError: error as Error, extensions });
}

/** An operation is refused, because the planner's plan for it would answer wrong values. */
export const noPlan = (why: string): GraphQLError =>
  new GraphQLError(`There is no plan for this operation: ${why}`, { extensions: { code: 'BAD_REQUEST' } });
