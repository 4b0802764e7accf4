import { GraphQLError } from 'graphql';
import type { SubgraphError } from './subgraph.js';

type Path = readonly (string | number)[];

/** An error of a subgraph as the client's answer tells it: at the client's path, with the subgraph's name, which the edge takes off again. */
export function subgraphError(error: SubgraphError, service: string, path: Path | undefined): GraphQLError {
  const message = error.message || `Error while fetching subquery from service "${service}"`;
  const extensions = { ...error.extensions, code: error.extensions?.code ?? 'DOWNSTREAM_SERVICE_ERROR', serviceName: service };
  return new GraphQLError(message, { path, originalError: error as Error, extensions });
}

/** Whatever a step threw, told at a place of the answer. */
export function asGraphqlError(error: unknown, path: Path | undefined): GraphQLError {
  const { extensions } = error as { extensions?: Readonly<Record<string, unknown>> };
  return new GraphQLError((error as Error).message, { path, originalError: error as Error, extensions });
}
