import { composeServices } from '@apollo/composition';
import { parse, type GraphQLSchema } from 'graphql';
import type { Executor } from '../../../gateway/plans/executor.js';
import { startGateway } from '../../../gateway/plans/gateway.js';
import { createLogger } from '../../../runtime/observe/log.js';
import { HashSubgraph, type Trouble } from './world.js';

export interface Pair {
  apiSchema: GraphQLSchema;
  supergraph: GraphQLSchema;
  stock: Executor;
  compiled: Executor;
  /** The compiled executor, with the subgraphs as in another process. */
  remote: Executor;
  sources: ReadonlyMap<string, HashSubgraph>;
  trouble(trouble: Trouble): void;
}

/** The same subgraphs behind the stock executor and behind the compiled one. */
export async function startPair(subgraphs: Readonly<Record<string, string>>): Promise<Pair> {
  const { supergraphSdl, errors } = composeServices(
    Object.entries(subgraphs).map(([name, sdl]) => ({ name, typeDefs: parse(sdl), url: `http://${name}.invalid` })),
  );
  if (!supergraphSdl) throw new Error(errors!.map(error => error.message).join('\n'));
  const sources = new Map(Object.entries(subgraphs).map(([name, sdl]) => [name, new HashSubgraph(name, sdl)]));
  const setting = { supergraphSdl, source: (name: string) => sources.get(name)! as never, log: createLogger('error') };
  const remotely = (name: string) => sources.get(name)!.remote() as never;
  const [stock, compiled, remote] = [
    await startGateway({ ...setting, executor: 'stock' }),
    await startGateway({ ...setting, executor: 'compiled' }),
    await startGateway({ ...setting, source: remotely, executor: 'compiled' }),
  ];
  return {
    apiSchema: stock.apiSchema,
    supergraph: stock.supergraph,
    stock: stock.executor,
    compiled: compiled.executor,
    remote: remote.executor,
    sources,
    trouble: trouble => sources.forEach(source => (source.trouble = trouble)),
  };
}
