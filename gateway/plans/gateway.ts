import { ApolloGateway } from '@apollo/gateway';
import { buildASTSchema, parse, validate, type GraphQLSchema } from 'graphql';
import { Problem } from '../../runtime/request/errors.js';
import type { Logger } from '../../runtime/observe/log.js';
import { CompiledExecutor, type PlanOrigin } from './compiled/executor.js';
import { plannerOf } from './compiled/planner.js';
import { ResponseNames } from './compiled/response-names.js';
import { stockExecutor, type Executor } from './executor.js';
import { answeringIntrospection } from './introspection.js';
import type { SubgraphSource } from './subgraph-source.js';

interface GatewayOptions {
  supergraphSdl: string;
  /** The data source of one subgraph of the supergraph. */
  source(service: string): SubgraphSource;
  /** Which executor runs the plans; `stock`: @apollo/gateway's own. */
  executor: 'compiled' | 'stock';
  /** Called for each operation with the origin of its plan. */
  onPlan?: (origin: PlanOrigin) => void;
  log: Logger;
}

export interface Gateway {
  apollo: ApolloGateway;
  /** The part of the supergraph that clients may see. */
  apiSchema: GraphQLSchema;
  supergraphSdl: string;
  /** The whole supergraph; its nodes have the directives `@access` and `@constraint`. */
  supergraph: GraphQLSchema;
  executor: Executor;
  /** @throws Problem invalid_request with every error of the document against the API schema. */
  validate(source: string): void;
  stop(): Promise<void>;
}

/** Memory of the stock executor's plan cache, MiB. */
const PLAN_CACHE_MIB = 50;
/** Plans that the planner compares for a query. With 100 instead of 10,000 the fetch counts stay the same, and the slowest queries are planned 2-60 × faster. */
const MAX_EVALUATED_PLANS = 100;

/** Starts @apollo/gateway on a supergraph's text. Subgraphs are not introspected, so they may start later. */
export async function startGateway({ supergraphSdl, source, executor: chosen, onPlan, log }: GatewayOptions): Promise<Gateway> {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true'; // read by the constructor, which else calls cloud-metadata addresses
  const sources = new Map<string, SubgraphSource>();
  const sourceOf = (name: string): SubgraphSource => sources.get(name) ?? sources.set(name, source(name)).get(name)!;
  const apollo = new ApolloGateway({
    supergraphSdl,
    validateSupergraph: false, // composition has validated it; doing so again takes 1 s
    buildService: ({ name }) => sourceOf(name),
    experimental_approximateQueryPlanStoreMiB: PLAN_CACHE_MIB,
    queryPlannerConfig: { debug: { maxEvaluatedPlans: MAX_EVALUATED_PLANS } },
    logger: quiet(log) as never,
  });
  const { schema, executor } = await apollo.load();
  const supergraph = buildASTSchema(parse(supergraphSdl, { noLocation: true }), { assumeValid: true });
  const stock = stockExecutor(apollo, executor, log);
  const compiled = new CompiledExecutor({
    planner: plannerOf(apollo),
    apiSchema: schema,
    names: new ResponseNames(supergraph, schema),
    supergraph,
    subgraph: sourceOf,
    stock,
    onPlan,
  });
  return {
    apollo,
    apiSchema: schema,
    supergraphSdl,
    supergraph,
    executor: answeringIntrospection(chosen === 'compiled' ? compiled : stock, schema),
    stop: () => apollo.stop(),
    validate(document) {
      const errors = validate(schema, parse(document));
      if (errors.length) throw new Problem('invalid_request', errors.map(error => error.message).join('; '));
    },
  };
}

/** @apollo/gateway's messages below the level of warnings are dropped. */
const quiet = (log: Logger) => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string) => log.warn(message),
  error: (message: string) => log.error(message),
});
