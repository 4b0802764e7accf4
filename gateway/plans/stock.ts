import type { GraphQLDataSource } from '@apollo/gateway';
import type { GatewayExecutor } from '@apollo/server-gateway-interface';
import type { GraphQLSchema } from 'graphql';
import { subjectOf, type Logger } from '../../runtime/observe/log.js';
import type { Planning } from './compiled/planner.js';
import type { FederatedContext, SubgraphSource } from './subgraph-source.js';

/** A context that also knows the sources of the gateway that runs the operation. */
interface StockContext extends FederatedContext {
  sourceOf(service: string): SubgraphSource;
}

/** Calls the subgraph through the gateway that runs the operation. */
const sourceInContext = (name: string): GraphQLDataSource<StockContext> => ({
  process: options => (options.context as StockContext).sourceOf(name).process(options as never),
});

/** Memory of the plan cache, MiB. */
const PLAN_CACHE_MIB = 50;

interface StockSetting {
  sdl: string;
  services: readonly string[];
  planning: () => Planning;
  apiSchema: GraphQLSchema;
  supergraph: GraphQLSchema;
  log: Logger;
}

/**
 * @apollo/gateway's own executor on what has been loaded already, in place of `load`, which would load it again. The fields are private, but
 * TypeScript checks access in brackets, so an upgrade that renames one does not compile.
 */
async function open({ sdl, services, planning, apiSchema, supergraph, log }: StockSetting): Promise<GatewayExecutor> {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true'; // read by the constructor, which else calls cloud-metadata addresses
  const { ApolloGateway } = await import('@apollo/gateway');
  const gateway = new ApolloGateway({
    supergraphSdl: sdl,
    experimental_approximateQueryPlanStoreMiB: PLAN_CACHE_MIB,
    logger: quiet(log) as never,
  });
  for (const name of services) gateway['serviceMap'][name] = { dataSource: sourceInContext(name) };
  const { planner, api } = planning();
  [gateway['queryPlanner'], gateway['apiSchema']] = [planner, api];
  [gateway.schema, gateway['supergraphSchema']] = [apiSchema, supergraph];
  return gateway.executor as GatewayExecutor;
}

/**
 * Runs operations by @apollo/gateway's own executor, whose package is loaded by the first: with its exporter and detectors of clouds, which
 * ours turns off, it takes 0.6 s of CPU and 20 MB, and few processes ever need it.
 */
export function stockRun(setting: StockSetting): GatewayExecutor {
  let executor: Promise<GatewayExecutor> | undefined;
  return async context => (await (executor ??= open(setting)))(context);
}

/** @apollo/gateway's messages below the level of warnings are dropped. */
const quiet = (log: Logger) => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string) => log.warn(subjectOf(message)),
  error: (message: string) => log.error(subjectOf(message)),
});
