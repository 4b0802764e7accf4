import type { GraphQLDataSource, GraphQLDataSourceProcessOptions } from '@apollo/gateway';
import { parse, type DocumentNode } from 'graphql';
import type { ServiceHost } from '../../runtime/host.js';
import type { RequestInfo } from '../../runtime/request/request.js';
import type { Metrics } from '../../runtime/observe/metrics.js';
import type { Variables } from '../plans/compiled/run.js';
import type { Send, Subgraph } from '../plans/compiled/subgraph.js';
import { Lru } from '../plans/lru.js';

/** What the federation's context carries: the request at the door. */
export interface FederatedContext {
  request: RequestInfo;
}

/** Documents of one subgraph that the stock executor's plans hold; the compiled ones keep their own. */
const MAX_DOCUMENTS = 2_000;
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
const BYTES_PER_CHARACTER = 30;

export type Options = GraphQLDataSourceProcessOptions<FederatedContext>;
export type Answer = Awaited<ReturnType<GraphQLDataSource['process']>>;

/** A subgraph as both executors reach it: the stock one by `process`, the compiled one by what `prepare` made of each fetch. */
export interface SubgraphSource extends GraphQLDataSource<FederatedContext>, Subgraph {}

/** A subgraph in this process: its document is parsed once, the verified caller is passed on, nothing else is serialised. */
export class LocalDataSource implements SubgraphSource {
  readonly #documents = new Lru<DocumentNode>(MAX_DOCUMENTS, MAX_DOCUMENT_BYTES);

  constructor(
    private readonly host: ServiceHost,
    private readonly metrics: Metrics,
  ) {}

  process({ request, context }: Options): Promise<Answer> {
    const { query, variables, operationName } = request;
    return this.#run(this.#documentOf(query!), variables, operationName, (context as FederatedContext).request);
  }

  prepare(query: string): Send {
    const document = parse(query, { noLocation: true });
    return (variables, representations, request) => {
      const all = representations === null ? variables : { ...variables, representations: JSON.parse(`[${representations}]`) };
      return this.#run(document, all, undefined, request);
    };
  }

  #documentOf(query: string): DocumentNode {
    let document = this.#documents.get(query);
    if (!document) this.#documents.set(query, (document = parse(query, { noLocation: true })), query.length * BYTES_PER_CHARACTER);
    return document;
  }

  async #run(
    document: DocumentNode,
    variables: Variables | undefined,
    operationName: string | undefined,
    request: RequestInfo,
  ): Promise<Answer> {
    const done = this.metrics.fetches.startTimer({ service: this.host.slug });
    const answer = await this.host.execute({ document, variables, operationName }, request);
    done();
    return answer as Answer;
  }
}
