import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import { buildASTSchema, parse, validate, type GraphQLSchema } from 'graphql';
import { Problem } from '../runtime/errors.js';
import type { Logger } from '../runtime/log.js';
import { stockExecutor, type Executor } from './executor.js';

export interface GatewayOptions {
  supergraphSdl: string;
  /** The data source of one subgraph of the supergraph. */
  source(service: string): GraphQLDataSource;
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
export async function startGateway({ supergraphSdl, source, log }: GatewayOptions): Promise<Gateway> {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true'; // read by the constructor, which otherwise calls cloud-metadata addresses
  const apollo = new ApolloGateway({
    supergraphSdl, buildService: ({ name }) => source(name), experimental_approximateQueryPlanStoreMiB: PLAN_CACHE_MIB,
    queryPlannerConfig: { debug: { maxEvaluatedPlans: MAX_EVALUATED_PLANS } }, logger: quiet(log) as never,
  });
  const { schema, executor } = await apollo.load();
  const supergraph = buildASTSchema(parse(supergraphSdl, { noLocation: true }), { assumeValid: true });
  return {
    apollo, apiSchema: schema, supergraphSdl, supergraph, executor: stockExecutor(apollo, executor, log), stop: () => apollo.stop(),
    validate(document) {
      const errors = validate(schema, parse(document));
      if (errors.length) throw new Problem('invalid_request', errors.map(error => error.message).join('; '));
    },
  };
}

/** The gateway's own talk is of interest only when something is wrong. */
const quiet = (log: Logger) => ({ debug: () => undefined, info: () => undefined, warn: (message: string) => log.warn(message), error: (message: string) => log.error(message) });
