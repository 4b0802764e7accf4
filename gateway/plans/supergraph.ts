import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import type { GatewayExecutor } from '@apollo/server-gateway-interface';
import { buildASTSchema, parse, type GraphQLSchema } from 'graphql';
import { subjectOf, type Logger } from '../../runtime/observe/log.js';
import { withoutIdleKeys } from './compiled/entity-keys.js';
import { plannerOf, type Planner } from './compiled/planner.js';
import { PlanChecks } from './compiled/plan-checks.js';
import { ResponseNames } from './compiled/response-names.js';
import { dropSyntaxTrees } from './compiled/syntax-trees.js';
import { validateScalars } from './scalars.js';
import type { FederatedContext, SubgraphSource } from './subgraph-source.js';

/** What follows from a supergraph's text alone. Sources and metrics come with each operation, so all gateways of a process share it. */
interface LoadedSupergraph {
  sdl: string;
  /** The whole supergraph; its nodes have the directives `@access` and `@constraint`. */
  supergraph: GraphQLSchema;
  /** The part of the supergraph that clients may see. */
  apiSchema: GraphQLSchema;
  planner: Planner;
  names: ResponseNames;
  checks: PlanChecks;
  /** @apollo/gateway's own executor. */
  run: GatewayExecutor;
  /** Names of the subgraphs. */
  services: readonly string[];
}

/** A context that also knows the sources of the gateway that runs the operation. */
interface StockContext extends FederatedContext {
  sourceOf(service: string): SubgraphSource;
}

/** Calls the subgraph through the gateway that runs the operation. */
const sourceInContext = (name: string): GraphQLDataSource<StockContext> => ({
  process: options => (options.context as StockContext).sourceOf(name).process(options as never),
});

/** Memory of the stock executor's plan cache, MiB. */
const PLAN_CACHE_MIB = 50;
/** Plans that the planner compares for a query. With 100 instead of 10,000 the fetch counts stay the same, and the slowest queries are planned 2-60 × faster. */
const MAX_EVALUATED_PLANS = 100;

async function load(sdl: string, log: Logger): Promise<LoadedSupergraph> {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true'; // read by the constructor, which else calls cloud-metadata addresses
  const services: string[] = [];
  const apollo = new ApolloGateway({
    supergraphSdl: withoutIdleKeys(sdl),
    validateSupergraph: false, // composition has validated it; doing so again takes 1 s
    buildService: ({ name }) => (services.push(name), sourceInContext(name)),
    experimental_approximateQueryPlanStoreMiB: PLAN_CACHE_MIB,
    queryPlannerConfig: { debug: { maxEvaluatedPlans: MAX_EVALUATED_PLANS } },
    logger: quiet(log) as never,
  });
  const { schema, executor } = await apollo.load();
  validateScalars(schema);
  const supergraph = buildASTSchema(parse(sdl, { noLocation: true }), { assumeValid: true });
  dropSyntaxTrees(apollo, supergraph);
  return {
    sdl,
    supergraph,
    apiSchema: schema,
    planner: plannerOf(apollo),
    names: new ResponseNames(supergraph, schema),
    checks: new PlanChecks(supergraph),
    run: executor,
    services,
  };
}

let last: { sdl: string; loaded: Promise<LoadedSupergraph> } | null = null;

/** Loads a supergraph: half of a start's work. The last one is kept, for whoever starts next in this process. */
export function loadSupergraph(sdl: string, log: Logger): Promise<LoadedSupergraph> {
  if (last?.sdl === sdl) return last.loaded;
  const loaded = load(sdl, log);
  last = { sdl, loaded };
  loaded.catch(() => (last = null));
  return loaded;
}

/** @apollo/gateway's messages below the level of warnings are dropped. */
const quiet = (log: Logger) => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string) => log.warn(subjectOf(message)),
  error: (message: string) => log.error(subjectOf(message)),
});
