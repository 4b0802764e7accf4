import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { execute, parse, type GraphQLFormattedError, type GraphQLSchema } from 'graphql';
import { startGateway } from '../../../gateway/plans/gateway.js';
import { keyOf } from '../../../gateway/plans/executor.js';
import { createLogger } from '../../../runtime/observe/log.js';
import { ANONYMOUS } from '../../../runtime/request/caller.js';
import { internalRequest } from '../../../runtime/request/request.js';

export interface SubgraphOfSuite {
  sdl: string;
  resolvers?: Record<string, any>;
}

/** Subgraphs that show one feature of the federation, and what queries over them are to answer. */
export interface Suite {
  name: string;
  subgraphs: Readonly<Record<string, SubgraphOfSuite>>;
  queries: readonly Expected[];
}

interface Expected {
  query: string;
  variables?: Record<string, unknown>;
  /** The answer; null for a query that is refused when it is planned. */
  data: unknown;
  /** Whether the answer has errors besides. */
  errors?: boolean;
  refused?: RegExp;
}

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key", "@shareable", "@external", "@requires", "@provides", "@inaccessible", "@override", "@interfaceObject", "@extends"])\n';

/** Without the link it is a schema of Federation 1. */
const linked = (sdl: string): string => (sdl.includes('# Federation 1') ? sdl : LINK + sdl);

/** A subgraph in this process that notes what it is asked. */
function sourceOf({ sdl, resolvers = {} }: SubgraphOfSuite, asked: string[]) {
  const schema: GraphQLSchema = buildSubgraphSchema([{ typeDefs: parse(linked(sdl)), resolvers }]);
  const answer = async (query: string, variableValues: Record<string, unknown>) => {
    asked.push(query);
    return JSON.parse(JSON.stringify(await execute({ schema, document: parse(query), variableValues }))) as object;
  };
  return {
    process: ({ request }: any) => answer(request.query, request.variables ?? {}),
    prepare: (query: string) => (variables: object, representations: string | null) =>
      answer(query, { ...variables, ...(representations !== null && { representations: JSON.parse(`[${representations}]`) }) }),
  };
}

export interface AnswerOfSuite {
  data: unknown;
  errors: readonly GraphQLFormattedError[];
  /** Documents that the subgraphs were asked, by name. */
  asked: Readonly<Record<string, readonly string[]>>;
}

/** What a suite's subgraphs are composed to. */
export function supergraphOf({ subgraphs }: Pick<Suite, 'subgraphs'>): string {
  const composed = composeServices(
    Object.entries(subgraphs).map(([name, { sdl }]) => ({ name, typeDefs: parse(linked(sdl)), url: `http://${name}.invalid` })),
  );
  if (!composed.supergraphSdl) throw new Error(composed.errors!.map(error => error.message).join('\n'));
  return composed.supergraphSdl;
}

/** The gateway over a suite's subgraphs. */
export async function startSuite(suite: Suite): Promise<(query: string, variables?: Record<string, unknown>) => Promise<AnswerOfSuite>> {
  const { subgraphs } = suite;
  const asked: Record<string, string[]> = Object.fromEntries(Object.keys(subgraphs).map(name => [name, []]));
  const sources = new Map(Object.entries(subgraphs).map(([name, subgraph]) => [name, sourceOf(subgraph, asked[name]!)]));
  const gateway = await startGateway({
    supergraphSdl: supergraphOf(suite),
    source: name => sources.get(name)! as never,
    executor: 'compiled',
    log: createLogger('silent'),
  });
  return async (query, variables = {}) => {
    for (const calls of Object.values(asked)) calls.length = 0;
    const operation = { document: parse(query), source: query, key: keyOf(query), operationName: null, variables };
    const { data, errors } = await gateway.executor.execute(operation, internalRequest(ANONYMOUS));
    return { data: JSON.parse(JSON.stringify(data)) as unknown, errors, asked: structuredClone(asked) };
  };
}
