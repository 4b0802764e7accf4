import type { GatewayExecutor } from '@apollo/server-gateway-interface';
import { createHash } from 'node:crypto';
import { GraphQLError, Kind, type DocumentNode, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';
import type { RequestInfo } from '../../runtime/request/request.js';
import type { Logger } from '../../runtime/observe/log.js';
import type { SubgraphSource } from './subgraph-source.js';

/** An operation that was parsed and validated against the API schema. `key` identifies it in plan caches. */
export interface FederatedOperation {
  document: DocumentNode;
  source: string;
  key: string;
  operationName: string | null;
  variables: Readonly<Record<string, unknown>>;
}

/** An operation without its variables. */
export type PreparedOperation = Omit<FederatedOperation, 'variables'>;

export interface FederatedResult {
  /** JSON text of `data`, from an executor that writes text; `data` is then parsed from it at its first use. */
  readonly text?: string;
  readonly data: Record<string, unknown> | null;
  readonly errors: readonly GraphQLFormattedError[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Plans and runs operations: those of the REST API, of `/graphql` and of the services. Source: issue "fastest gateway", gateway-speed.md. */
export interface Executor {
  execute(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult>;
  /** Plans an operation ahead and keeps its plan for good. @throws GraphQLError when it cannot be planned. */
  prepare?(operation: PreparedOperation): void;
}

/** Whether there is data, without parsing its text. */
export const hasData = (result: FederatedResult): boolean => (result.text === undefined ? result.data !== null : result.text !== 'null');

export const keyOf = (source: string): string => createHash('sha256').update(source).digest('hex');

interface StockSetting {
  run: GatewayExecutor;
  apiSchema: GraphQLSchema;
  sourceOf(service: string): SubgraphSource;
  log: Logger;
}

/** Errors of variables that do not fit their types have no code yet; @apollo/server, which gives them one, is not always asked. */
const withCode = (error: GraphQLFormattedError): GraphQLFormattedError =>
  error instanceof GraphQLError && error.nodes?.[0]?.kind === Kind.VARIABLE_DEFINITION
    ? new GraphQLError(error.message, { nodes: error.nodes, extensions: { code: 'BAD_USER_INPUT' } })
    : error;

/** @apollo/gateway's own executor. */
export function stockExecutor({ run, apiSchema, sourceOf, log }: StockSetting): Executor {
  return {
    async execute({ document, source, key, operationName, variables }, request) {
      const response = await run({
        request: { query: source, operationName: operationName ?? undefined, variables: variables as Record<string, any> },
        document,
        queryHash: key,
        operationName,
        schema: apiSchema,
        context: { request, sourceOf },
        cache: NO_CACHE,
        logger: log as never,
        metrics: {},
        overallCachePolicy: NO_POLICY,
        source,
      } as never);
      return {
        data: (response.data ?? null) as Record<string, unknown> | null,
        errors: (response.errors ?? []).map(withCode),
        extensions: response.extensions,
      };
    },
  };
}

/** Answers are not cached, but @apollo/gateway calls the functions of a cache and of a policy. */
const NO_CACHE = { get: async () => undefined, set: async () => undefined, delete: async () => false };
const NO_POLICY = {
  restrict: () => undefined,
  replace: () => undefined,
  policyIfCacheable: () => null,
  maxAge: undefined,
  scope: undefined,
};
