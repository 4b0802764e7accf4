import { Supergraph } from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import type { GatewayExecutor } from '@apollo/server-gateway-interface';
import { buildASTSchema, parse, type DocumentNode, type GraphQLSchema } from 'graphql';
import type { Logger } from '../../runtime/observe/log.js';
import { keepRules } from '../../runtime/schema/syntax-trees.js';
import { apiDocument } from './api-schema.js';
import { withoutIdleKeys } from './compiled/entity-keys.js';
import { graphNames } from './compiled/graph-names.js';
import { plannerOf, type Planner, type Planning } from './compiled/planner.js';
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
  /** @throws Error when the federation cannot read it. */
  check(): void;
}

/** Plans that the planner compares for a query. With 100 instead of 10,000 the fetch counts stay the same, and the slowest queries are planned 2-60 × faster. */
const MAX_EVALUATED_PLANS = 100;

/** As @apollo/gateway loads it, but for keys that mislead its planner. */
function planningOf(document: DocumentNode): Planning {
  const built = Supergraph.build(withoutIdleKeys(document), { validateSupergraph: false }); // composition has validated it; doing so again takes 1 s
  const api = built.apiSchema();
  const planner = new QueryPlanner(built, { debug: { maxEvaluatedPlans: MAX_EVALUATED_PLANS } });
  dropSyntaxTrees([api, planner.supergraph.schema, ...planner['federatedQueryGraph'].sources.values()]);
  return { planner, api };
}

/** Made when it is asked for, and kept; what it is made of is let go. */
function once<Of, T>(of: Of, make: (of: Of) => T): () => T {
  let source: Of | undefined = of;
  let made: T | undefined;
  return () => {
    made ??= make(source!);
    source = undefined;
    return made;
  };
}

function apiSchemaOf(document: DocumentNode, planning: () => Planning): GraphQLSchema {
  const visible = apiDocument(document);
  return visible ? buildASTSchema(visible, { assumeValid: true }) : planning().api.toGraphQLJSSchema();
}

/** The planner is made by the first plan: it takes two thirds of the time, and a start need not wait for it. */
async function load(sdl: string, log: Logger): Promise<LoadedSupergraph> {
  const document = parse(sdl, { noLocation: true });
  const planning = once(document, planningOf);
  const apiSchema = apiSchemaOf(document, planning);
  validateScalars(apiSchema);
  const supergraph = buildASTSchema(document, { assumeValid: true });
  const services = [...graphNames(supergraph).values()];
  const [names, checks] = [new ResponseNames(supergraph, apiSchema), new PlanChecks(supergraph)];
  for (const schema of [apiSchema, supergraph]) keepRules(schema);
  return {
    sdl,
    supergraph,
    apiSchema,
    planner: plannerOf(planning),
    names,
    checks,
    run: stockRun({ sdl, services, planning, apiSchema, supergraph, log }),
    services,
    check: () => void planning().api.toGraphQLJSSchema(),
  };
}

let last: { sdl: string; loaded: Promise<LoadedSupergraph> } | null = null;

/** Loads a supergraph. The last one is kept, for whoever starts next in this process. */
export function loadSupergraph(sdl: string, log: Logger): Promise<LoadedSupergraph> {
  if (last?.sdl === sdl) return last.loaded;
  const loaded = load(sdl, log);
  last = { sdl, loaded };
  loaded.catch(() => (last = null));
  return loaded;
}
