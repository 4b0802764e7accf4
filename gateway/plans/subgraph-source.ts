import type { GraphQLDataSource, GraphQLDataSourceProcessOptions } from '@apollo/gateway';
import type { RequestInfo } from '../../runtime/request/request.js';
import type { Subgraph } from './compiled/subgraph.js';

/** What @apollo/server and @apollo/gateway pass from a request to its subgraph calls. */
export interface FederatedContext {
  request: RequestInfo;
}

export type ProcessOptions = GraphQLDataSourceProcessOptions<FederatedContext>;
export type ProcessResult = Awaited<ReturnType<GraphQLDataSource['process']>>;

/** A subgraph as both executors call it: the stock one by `process`, the compiled one by the function that `prepare` makes of each fetch. */
export interface SubgraphSource extends GraphQLDataSource<FederatedContext>, Subgraph {}

/** Entities of one call over the network. A source splits what is more, a subgraph refuses it. */
export const MAX_ENTITIES = 1_000;

/** Text of the representations of one call, characters, where more than one is in it. */
export const MAX_TEXT = 1024 * 1024;

/** `_entities` fields of one call. A subgraph refuses more. */
export const MAX_PARTS = 8;
