import { Supergraph } from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import type { GatewayExecutor } from '@apollo/server-gateway-interface';
import { buildASTSchema, parse, type GraphQLSchema } from 'graphql';
import type { Logger } from '../../runtime/observe/log.js';
import { keepRules } from '../../runtime/schema/syntax-trees.js';
import { withoutIdleKeys } from './compiled/entity-keys.js';
import { plannerOf, type Planner } from './compiled/planner.js';
import { PlanChecks } from './compiled/plan-checks.js';
import { ResponseNames } from './compiled/response-names.js';
import { dropSyntaxTrees } from './compiled/syntax-trees.js';
import { validateScalars } from './scalars.js';
import { stockRun } from './stock.js';

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

/** Plans that the planner compares for a query. With 100 instead of 10,000 the fetch counts stay the same, and the slowest queries are planned 2-60 × faster. */
const MAX_EVALUATED_PLANS = 100;

/** As @apollo/gateway loads a supergraph, but for a second executable schema of it. */
async function load(sdl: string, log: Logger): Promise<LoadedSupergraph> {
  const built = Supergraph.build(withoutIdleKeys(sdl), { validateSupergraph: false }); // composition has validated it; doing so again takes 1 s
  const api = built.apiSchema();
  const apiSchema = api.toGraphQLJSSchema();
  validateScalars(apiSchema);
  const planner = new QueryPlanner(built, { debug: { maxEvaluatedPlans: MAX_EVALUATED_PLANS } });
  const supergraph = buildASTSchema(parse(sdl, { noLocation: true }), { assumeValid: true });
  const services = built.subgraphsMetadata().map(({ name }) => name);
  const [names, checks] = [new ResponseNames(supergraph, apiSchema), new PlanChecks(supergraph)];
  dropSyntaxTrees([api, planner.supergraph.schema, ...planner['federatedQueryGraph'].sources.values()]);
  for (const schema of [apiSchema, supergraph]) keepRules(schema);
  return {
    sdl,
    supergraph,
    apiSchema,
    planner: plannerOf(planner, api),
    names,
    checks,
    run: stockRun({ sdl, services, planner, api, apiSchema, supergraph, log }),
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
