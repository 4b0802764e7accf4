import type { GraphQLDataSource, GraphQLDataSourceProcessOptions } from '@apollo/gateway';
import { parse, type DocumentNode } from 'graphql';
import { Pool } from 'undici';
import { Problem } from '../runtime/errors.js';
import type { ServiceHost } from '../runtime/host.js';
import type { RequestInfo } from '../runtime/request.js';
import type { Metrics } from '../runtime/telemetry.js';
import { activeTraceparent, traced } from '../runtime/tracing.js';
import type { Variables } from './compiled/run.js';
import type { Send, Subgraph } from './compiled/subgraph.js';
import { Exchange } from './exchange.js';
import type { Freshness } from './executor.js';
import { Lru } from './lru.js';

/** What the federation's context carries: the request at the door. */
export interface FederatedContext {
  request: RequestInfo;
  /** Of the answer, once it is there. */
  freshness?: Freshness | undefined;
}

/** Documents of one subgraph that the stock executor's plans hold; the compiled ones keep their own. */
const MAX_DOCUMENTS = 2_000;
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
const BYTES_PER_CHARACTER = 30;
/** Deadline over connect, headers and body of a subgraph call, ms. */
const CALL_MS = 25_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const CONNECTIONS = 64;

type Options = GraphQLDataSourceProcessOptions<FederatedContext>;
type Answer = Awaited<ReturnType<GraphQLDataSource['process']>>;

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

/** Headers that a subgraph in another process needs to see the request as we do. */
export function forwardedHeaders(request: RequestInfo): Record<string, string> {
  const traceparent = activeTraceparent() ?? request.traceparent;
  return {
    'content-type': 'application/json',
    'x-request-id': request.id,
    ...(request.token !== null && { authorization: `Bearer ${request.token}` }),
    ...(request.idempotencyKey !== null && { 'idempotency-key': request.idempotencyKey }),
    ...(traceparent !== null && { traceparent }),
    ...(request.ip !== null && { 'x-forwarded-for': request.ip }),
  };
}

/** A subgraph in another process: one deadline over everything, kept-alive connections, the status override copied back. */
export class HttpDataSource implements SubgraphSource {
  #pool: Pool | undefined;

  /** @param baseUrl of the subgraph's process; asked at the first call, because our own address is known late. */
  constructor(
    private readonly slug: string,
    private readonly baseUrl: () => string,
    private readonly metrics: Metrics,
  ) {}

  process({ request, context }: Options): Promise<Answer> {
    const { query, variables, operationName } = request;
    return this.#post(JSON.stringify({ query, variables, operationName }), (context as FederatedContext).request);
  }

  prepare(query: string): Send {
    const start = `{"query":${JSON.stringify(query)},"variables":`;
    return (variables, representations, request) => {
      const given = JSON.stringify(variables);
      if (representations === null) return this.#post(`${start}${given}}`, request);
      return this.#post(`${start}${given.slice(0, -1)}${given.length > 2 ? ',' : ''}"representations":[${representations}]}}`, request);
    };
  }

  /** @throws Problem unavailable */
  async #post(body: string, request: RequestInfo): Promise<Answer> {
    const done = this.metrics.fetches.startTimer({ service: this.slug });
    try {
      const span = { kind: 'client', attributes: { 'platform.service': this.slug }, parent: request.traceparent } as const;
      return await traced(`call ${this.slug}`, span, () => this.#call(body, request));
    } catch (error) {
      throw new Problem('unavailable', `The ${this.slug} service cannot be reached right now`, { retryAfter: 1, cause: error });
    } finally {
      done();
    }
  }

  async #call(body: string, request: RequestInfo): Promise<Answer> {
    this.#pool ??= new Pool(new URL(this.baseUrl()).origin, {
      connections: CONNECTIONS,
      connect: { timeout: 2_000 },
      keepAliveTimeout: 30_000,
      headersTimeout: CALL_MS,
      bodyTimeout: CALL_MS,
    });
    const signal = request.signal ?? AbortSignal.timeout(CALL_MS); // a request from outside has its own deadline
    signal.throwIfAborted();
    const exchange = new Exchange(signal, MAX_ANSWER_BYTES);
    this.#pool.dispatch({ path: `/${this.slug}/graphql`, method: 'POST', headers: forwardedHeaders(request), body }, exchange);
    const { headers, text } = await exchange.answer;
    const status = Number(headers['x-result-status']);
    if (status) request.status = status;
    return JSON.parse(text) as Answer;
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}
