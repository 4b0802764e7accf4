import { parse, type DocumentNode } from 'graphql';
import type { RunningService } from '../../runtime/running-service.js';
import type { Metrics } from '../../runtime/observe/metrics.js';
import type { RequestInfo } from '../../runtime/request/request.js';
import type { Variables } from '../plans/compiled/rows.js';
import type { Send } from '../plans/compiled/subgraph.js';
import { BYTES_PER_CHARACTER, Lru } from '../plans/lru.js';
import type { FederatedContext, ProcessOptions, ProcessResult, SubgraphSource } from '../plans/subgraph-source.js';

/** Documents of the stock executor's plans that are kept for one subgraph; the compiled executor keeps its own. */
const MAX_DOCUMENTS = 2_000;
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** A subgraph in this process. Documents are parsed once, the verified caller is passed on, and nothing else is serialised. */
export class LocalDataSource implements SubgraphSource {
  readonly #documents = new Lru<DocumentNode>(MAX_DOCUMENTS, MAX_DOCUMENT_BYTES);

  constructor(
    private readonly host: RunningService,
    private readonly metrics: Metrics,
  ) {}

  process({ request, context }: ProcessOptions): Promise<ProcessResult> {
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
    const known = this.#documents.get(query);
    if (known) return known;
    const document = parse(query, { noLocation: true });
    this.#documents.set(query, document, query.length * BYTES_PER_CHARACTER);
    return document;
  }

  async #run(
    document: DocumentNode,
    variables: Variables | undefined,
    operationName: string | undefined,
    request: RequestInfo,
  ): Promise<ProcessResult> {
    const done = this.metrics.fetches.startTimer({ service: this.host.slug });
    const result = await this.host.execute({ document, variables, operationName }, request);
    done();
    return result as ProcessResult;
  }
}
