import { parse, validate, type GraphQLSchema } from 'graphql';
import { Problem } from '../../runtime/request/errors.js';
import type { Logger } from '../../runtime/observe/log.js';
import { CompiledExecutor, type PlanOrigin } from './compiled/executor.js';
import { stockExecutor, type Executor } from './executor.js';
import { answeringIntrospection } from './introspection.js';
import type { SubgraphSource } from './subgraph-source.js';
import { loadSupergraph } from './supergraph.js';

interface GatewayOptions {
  supergraphSdl: string;
  /** The data source of one subgraph of the supergraph. */
  source(service: string): SubgraphSource;
  /** Whether the text may not fit, by default; that of the start was generated with the services. */
  isForeign?: boolean;
  /** Which executor runs the plans; `stock`: @apollo/gateway's own. */
  executor: 'compiled' | 'stock';
  /** Called for each operation with the origin of its plan. */
  onPlan?: (origin: PlanOrigin) => void;
  log: Logger;
}

export interface Gateway {
  /** The part of the supergraph that clients may see. */
  apiSchema: GraphQLSchema;
  supergraphSdl: string;
  /** The whole supergraph; its nodes have the directives `@access` and `@constraint`. */
  supergraph: GraphQLSchema;
  executor: Executor;
  /** @throws Problem invalid_request with every error of the document against the API schema. */
  validate(source: string): void;
}

/**
 * Starts a gateway on a supergraph's text. Subgraphs are not introspected, so they may start later.
 * @throws Error for a subgraph without a source, and for a foreign text that is no supergraph.
 */
export async function startGateway({
  supergraphSdl,
  isForeign = true,
  source,
  executor: chosen,
  onPlan,
  log,
}: GatewayOptions): Promise<Gateway> {
  const { supergraph, apiSchema, planner, names, checks, run, services, check } = await loadSupergraph(supergraphSdl, log);
  if (isForeign) check();
  const sources = new Map(services.map(name => [name, source(name)]));
  const sourceOf = (name: string): SubgraphSource => sources.get(name)!;
  const stock = stockExecutor({ run, apiSchema, sourceOf, log });
  const compiled = new CompiledExecutor({ planner, apiSchema, names, checks, supergraph, subgraph: sourceOf, stock, onPlan });
  return {
    apiSchema,
    supergraphSdl,
    supergraph,
    executor: answeringIntrospection(chosen === 'compiled' ? compiled : stock, apiSchema),
    validate(document) {
      const errors = validate(apiSchema, parse(document));
      if (errors.length) throw new Problem('invalid_request', errors.map(error => error.message).join('; '));
    },
  };
}
