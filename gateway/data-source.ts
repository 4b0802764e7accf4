import type { GraphQLDataSource, GraphQLDataSourceProcessOptions } from '@apollo/gateway';
import { parse, type DocumentNode } from 'graphql';
import { Pool } from 'undici';
import { Problem } from '../runtime/errors.js';
import type { ServiceHost } from '../runtime/host.js';
import type { RequestInfo } from '../runtime/request.js';
import type { Metrics } from '../runtime/telemetry.js';

/** What the federation's context carries: the request at the door. */
export interface FederatedContext {
  request: RequestInfo;
}

/** Subgraph documents come from query plans, so there are as many as plans; the bound is a guard against a leak. */
const MAX_DOCUMENTS = 10_000;
/** Deadline over connect, headers and body of a subgraph call, ms. */
const CALL_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const CONNECTIONS = 64;

type Options = GraphQLDataSourceProcessOptions<FederatedContext>;
type Answer = Awaited<ReturnType<GraphQLDataSource['process']>>;

const documents = new Map<string, DocumentNode>();

function documentOf(query: string): DocumentNode {
  let document = documents.get(query);
  if (!document) {
    if (documents.size >= MAX_DOCUMENTS) documents.delete(documents.keys().next().value!);
    documents.set(query, (document = parse(query, { noLocation: true })));
  }
  return document;
}

/** A subgraph in this process: its document is parsed once, the verified caller is passed on, nothing is serialised. */
export class LocalDataSource implements GraphQLDataSource<FederatedContext> {
  constructor(private readonly host: ServiceHost, private readonly metrics: Metrics) {}

  async process({ request, context }: Options): Promise<Answer> {
    const done = this.metrics.fetches.startTimer({ service: this.host.slug });
    const operation = { document: documentOf(request.query!), variables: request.variables, operationName: request.operationName };
    const answer = await this.host.execute(operation, (context as FederatedContext).request);
    done();
    return answer as Answer;
  }
}

/** Headers that a subgraph in another process needs to see the request as we do. */
export function forwardedHeaders(request: RequestInfo): Record<string, string> {
  return {
    'content-type': 'application/json', 'x-request-id': request.id, ...(request.token !== null && { authorization: `Bearer ${request.token}` }),
    ...(request.idempotencyKey !== null && { 'idempotency-key': request.idempotencyKey }), ...(request.traceparent !== null && { traceparent: request.traceparent }),
    ...(request.ip !== null && { 'x-forwarded-for': request.ip }),
  };
}

async function bodyText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A subgraph in another process: one deadline over everything, kept-alive connections, the status override copied back. */
export class HttpDataSource implements GraphQLDataSource<FederatedContext> {
  readonly #pool: Pool;

  constructor(private readonly slug: string, baseUrl: string, private readonly metrics: Metrics) {
    this.#pool = new Pool(new URL(baseUrl).origin, { connections: CONNECTIONS, connect: { timeout: 2_000 }, keepAliveTimeout: 30_000 });
  }

  async process({ request, context }: Options): Promise<Answer> {
    const done = this.metrics.fetches.startTimer({ service: this.slug });
    const { query, variables, operationName } = request;
    try {
      return await this.#call(JSON.stringify({ query, variables, operationName }), (context as FederatedContext).request);
    } catch (error) {
      throw new Problem('unavailable', `The ${this.slug} service cannot be reached right now`, { retryAfter: 1, cause: error });
    } finally {
      done();
    }
  }

  async #call(body: string, request: RequestInfo): Promise<Answer> {
    const { headers, body: stream } = await this.#pool.request({
      path: `/${this.slug}/graphql`, method: 'POST', headers: forwardedHeaders(request), body, signal: AbortSignal.timeout(CALL_MS),
    });
    const status = Number(headers['x-result-status']);
    if (status) request.status = status;
    return JSON.parse(await bodyText(stream)) as Answer;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
