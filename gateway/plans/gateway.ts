import { ApolloGateway } from '@apollo/gateway';
import { buildASTSchema, parse, validate, type GraphQLSchema } from 'graphql';
import { Problem } from '../../runtime/request/errors.js';
import type { Logger } from '../../runtime/observe/log.js';
import { CompiledExecutor } from './compiled/executor.js';
import { plannerOf } from './compiled/planner.js';
import { ResponseNames } from './compiled/response-names.js';
import type { SubgraphSource } from '../sources/data-source.js';
import { stockExecutor, type Executor } from './executor.js';
import { answeringIntrospection } from '../endpoints/introspection.js';
import type { PlanOrigin } from '../metrics/operation-metrics.js';

export interface GatewayOptions {
  supergraphSdl: string;
  /** The data source of one subgraph of the supergraph. */
  source(service: string): SubgraphSource;
  /** What runs the plans; `stock` is @apollo/gateway's own. */
  executor: 'compiled' | 'stock';
  /** Told where the plan of each operation came from. */
  onPlan?: (origin: PlanOrigin) => void;
  log: Logger;
}

export interface Gateway {
  apollo: ApolloGateway;
  /** What clients may see. */
  apiSchema: GraphQLSchema;
  supergraphSdl: string;
  /** The supergraph itself, whose nodes bear `@access` and `@constraint`. */
  supergraph: GraphQLSchema;
  executor: Executor;
  /** @throws Error naming the document's faults against the API schema. */
  validate(source: string): void;
  stop(): Promise<void>;
}

/** Planned queries kept, MiB; and plans compared per query: the fetch counts stay the same, planning gets 2-60 × faster in its bad case. */
const PLAN_CACHE_MIB = 50;
const MAX_EVALUATED_PLANS = 100;

/** Starts @apollo/gateway on the checked-in supergraph: no introspection at start, so no race with the subgraphs. */
export async function startGateway({ supergraphSdl, source, executor: chosen, onPlan, log }: GatewayOptions): Promise<Gateway> {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true'; // read by the constructor, which otherwise calls cloud-metadata addresses
  const sources = new Map<string, SubgraphSource>();
  const sourceOf = (name: string): SubgraphSource => sources.get(name) ?? sources.set(name, source(name)).get(name)!;
  const apollo = new ApolloGateway({
    supergraphSdl,
    validateSupergraph: false, // composition made it, and a test compares it with what is checked in; validating it anew costs a second
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

/** The gateway's own talk is of interest only when something is wrong. */
const quiet = (log: Logger) => ({
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string) => log.warn(message),
  error: (message: string) => log.error(message),
});
