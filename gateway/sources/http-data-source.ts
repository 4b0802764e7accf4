import { Kind, parse, type DocumentNode } from 'graphql';
import { Client, Pool, type Dispatcher } from 'undici';
import {
  COMPLETE_ANSWER_HEADER,
  completeAnswerProof,
  provesCompleteness,
  SUBGRAPH_SECRET_HEADER,
} from '../../runtime/access/subgraph-secret.js';
import { Problem } from '../../runtime/request/errors.js';
import { NO_TRACE_HEADER, type RequestInfo } from '../../runtime/request/request.js';
import type { Metrics } from '../../runtime/observe/metrics.js';
import { traced } from '../../runtime/observe/tracing.js';
import type { Variables } from '../plans/compiled/rows.js';
import type { Send, SendLists, SendUnread, UnreadAnswer } from '../plans/compiled/subgraph.js';
import type { FederatedContext, ProcessOptions, ProcessResult, SubgraphSource } from '../plans/subgraph-source.js';
import { batchesOf, inBatches } from './entity-batches.js';
import { Exchange } from './exchange.js';
import { forwardedOf, isPlain, type Forwarded } from './forwarded.js';
import { Unanswered } from './unanswered.js';
import { WireClient } from './wire/client.js';
import { IDLE_MS } from './wire/connection.js';

/** Deadline over connect, headers and body of a subgraph call, ms. */
const CALL_MS = 25_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const CONNECTIONS = 64;
/** A service's answer names its keep-alive time, which undici would follow to within 2 s: the maximum is what counts. */
const CONNECTION = {
  connect: { timeout: 2_000 },
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: IDLE_MS,
  headersTimeout: CALL_MS,
  bodyTimeout: CALL_MS,
};

/** Queries that take longer than this on average, ms, are not pipelined, because the queries behind them would wait. */
export const QUICK_MS = 25;
/** Weight of the newest call in the average. */
const NEWEST = 0.2;

/** Moving average of how long the calls of a query's document take. Mutations have none. */
class Pace {
  #ms = 0;

  constructor(private readonly quickMs: number) {}

  get quick(): boolean {
    return this.quickMs > 0 && this.#ms <= this.quickMs;
  }

  note(ms: number): void {
    this.#ms += NEWEST * (ms - this.#ms);
  }
}

/** Of queries that are never pipelined. */
const NEVER_QUICK = new Pace(0);

interface RawAnswer {
  readonly text: string;
  readonly resultStatus: number;
  /** What the service sent to prove that the answer is complete; null: nothing. */
  readonly proof: string | null;
  /** Whether it may have left a trace. */
  readonly leavesTrace: boolean;
  /** Of mutations, which go over the pool. */
  readonly isReplayed?: boolean;
}

/** Makes an answer of a body. @throws Problem unavailable for an answer that is none of GraphQL */
type Read<T> = (answer: RawAnswer) => T;

/** What is before and after the data in the body of a complete answer. */
const [BEFORE_DATA, AFTER_DATA] = ['{"data":', '}'];

/** @throws Problem unavailable for an answer that is none of GraphQL: a process with another secret has no subgraph to show. */
function resultOf(slug: string, text: string): ProcessResult {
  const result = JSON.parse(text) as ProcessResult & { code?: unknown };
  if (result.data !== undefined || result.errors !== undefined) return result;
  const cause = new Error('the answer is none of GraphQL; is SUBGRAPH_SECRET the same in both processes?');
  throw new Problem('unavailable', `The ${slug} service does not know this gateway right now`, { retryAfter: 1, cause });
}

const isQuery = ({ definitions }: DocumentNode): boolean =>
  definitions.every(one => one.kind !== Kind.OPERATION_DEFINITION || one.operation === 'query');

/** Writes the bodies of one document: the variables, and lists whose elements are JSON text. */
function bodiesOf(query: string, names: readonly string[]): (variables: Variables, lists: readonly string[]) => string {
  const start = `{"query":${JSON.stringify(query)},"variables":`;
  return (variables, lists) => {
    const members = [JSON.stringify(variables).slice(1, -1), ...lists.map((text, at) => `"${names[at]!}":[${text}]`)];
    return `${start}{${members.filter(Boolean).join(',')}}}`;
  };
}

/**
 * A subgraph in another process: one deadline over everything, kept-alive connections, the status override copied from the answer. Quick
 * queries are pipelined; slow ones and mutations take a connection of a pool. A query whose connection is lost before its answer begins is
 * sent again, a mutation never.
 */
export class HttpDataSource implements SubgraphSource {
  #pool: Pool | undefined;
  #wire: WireClient | undefined;
  #start = '';
  readonly #proof: Buffer;

  /**
   * @param baseUrl of the subgraph's process. A function, because this process's own address is known late; called at the first call.
   * @param secret by which the subgraph knows this gateway.
   * @param quickMs average time up to which a query is pipelined, ms; 0: none is.
   */
  constructor(
    private readonly slug: string,
    private readonly baseUrl: () => string,
    private readonly secret: string,
    private readonly metrics: Metrics,
    private readonly quickMs = QUICK_MS,
  ) {
    this.#proof = Buffer.from(completeAnswerProof(secret));
  }

  process({ request, context }: ProcessOptions): Promise<ProcessResult> {
    const { query, operationName, variables: { representations, ...variables } = {} } = request;
    const { request: info } = context as FederatedContext;
    const pace = isQuery(parse(query!)) ? NEVER_QUICK : null;
    const post = (given: object): Promise<ProcessResult> =>
      this.#post(JSON.stringify({ query, operationName, variables: given }), info, pace, this.#read);
    if (!Array.isArray(representations)) return post({ ...request.variables });
    const batches = batchesOf(JSON.stringify(representations).slice(1, -1));
    const ask = (text: string) => post({ ...variables, representations: JSON.parse(`[${text}]`) as unknown });
    return batches ? (inBatches(batches, ask) as Promise<ProcessResult>) : post({ ...request.variables });
  }

  prepare(query: string): Send {
    const bodyOf = bodiesOf(query, ['representations']);
    const pace = this.#paceOf(query);
    return (variables, representations, request) => {
      const ask = (lists: readonly string[]): Promise<ProcessResult> => this.#post(bodyOf(variables, lists), request, pace, this.#read);
      if (representations === null) return ask([]);
      const batches = batchesOf(representations);
      return batches ? inBatches(batches, text => ask([text])) : ask([representations]);
    };
  }

  prepareLists(query: string, names: readonly string[]): SendLists {
    const [bodyOf, pace] = [bodiesOf(query, names), this.#paceOf(query)];
    return (variables, lists, request) => this.#post(bodyOf(variables, lists), request, pace, this.#read);
  }

  prepareUnread(query: string): SendUnread {
    const [bodyOf, pace] = [bodiesOf(query, []), this.#paceOf(query)];
    return (variables, request) => this.#post(bodyOf(variables, []), request, pace, this.#handOn);
  }

  readonly #read: Read<ProcessResult> = ({ text }) => resultOf(this.slug, text);

  /** Text that the service vouches for is not read, any other is. */
  readonly #handOn: Read<ProcessResult | UnreadAnswer> = answer => {
    const { text, proof } = answer;
    const isComplete = proof !== null && text.startsWith(BEFORE_DATA) && provesCompleteness(proof, this.#proof);
    return isComplete ? { text: text.slice(BEFORE_DATA.length, -AFTER_DATA.length) } : this.#read(answer);
  };

  #paceOf(query: string): Pace | null {
    return isQuery(parse(query)) ? new Pace(this.quickMs) : null;
  }

  /** @throws Problem unavailable */
  async #post<T>(body: string, request: RequestInfo, pace: Pace | null, read: Read<T>): Promise<T> {
    const done = this.metrics.fetches.startTimer({ service: this.slug });
    try {
      const span = { kind: 'client', attributes: { 'platform.service': this.slug }, parent: request.traceparent } as const;
      return await traced(`call ${this.slug}`, span, async () => read(await this.#call(body, request, pace)));
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem('unavailable', `The ${this.slug} service cannot be reached right now`, { retryAfter: 1, cause: error });
    } finally {
      pace?.note(done() * 1000);
    }
  }

  async #call(body: string, request: RequestInfo, pace: Pace | null): Promise<RawAnswer> {
    if (!this.#pool) this.#open();
    const signal = request.signal ?? AbortSignal.timeout(CALL_MS); // a client's request has a deadline of its own
    signal.throwIfAborted();
    const forwarded = forwardedOf(request);
    const answer = await this.#send(body, forwarded, signal, pace);
    if (answer.isReplayed) request.isReplayed = true;
    if (answer.leavesTrace) request.leavesTrace = true;
    if (answer.resultStatus) request.status = answer.resultStatus;
    return answer;
  }

  /** A query whose connection the service closed just as it was used is sent once more, over a new one: others may be as old. */
  async #send(body: string, forwarded: Forwarded, signal: AbortSignal, pace: Pace | null): Promise<RawAnswer> {
    const isQuick = pace?.quick && this.#wire && forwarded.lines !== null;
    try {
      return await (isQuick ? this.#pipelined(body, forwarded, signal) : this.#over(this.#pool!, body, forwarded, signal));
    } catch (error) {
      if (!pace || !(error instanceof Unanswered)) throw error;
      signal.throwIfAborted();
      const client = new Client(new URL(this.baseUrl()).origin, CONNECTION);
      return await this.#over(client, body, forwarded, signal).finally(() => void client.close());
    }
  }

  #open(): void {
    const url = new URL(this.baseUrl());
    this.#pool = new Pool(url.origin, { connections: CONNECTIONS, ...CONNECTION });
    if (url.protocol === 'http:' && isPlain(this.secret)) this.#wire = new WireClient(url, MAX_ANSWER_BYTES);
    this.#start = `POST /${this.slug}/graphql HTTP/1.1\r\nhost: ${url.host}\r\n${SUBGRAPH_SECRET_HEADER}: ${this.secret}\r\n`;
  }

  /** A query that was on the connection of another one, which was left, is sent again over the pool. */
  async #pipelined(body: string, forwarded: Forwarded, signal: AbortSignal): Promise<RawAnswer> {
    const text = `${this.#start}${forwarded.lines}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    try {
      return await this.#wire!.send(text, signal);
    } catch (error) {
      if (!(error instanceof Unanswered && error.isOurs)) throw error;
      signal.throwIfAborted();
      return this.#over(this.#pool!, body, forwarded, signal);
    }
  }

  async #over(connections: Dispatcher, body: string, forwarded: Forwarded, signal: AbortSignal): Promise<RawAnswer> {
    const headers = { ...forwarded.headers, [SUBGRAPH_SECRET_HEADER]: this.secret };
    const exchange = new Exchange(signal, MAX_ANSWER_BYTES);
    connections.dispatch({ path: `/${this.slug}/graphql`, method: 'POST', headers, body }, exchange);
    const answer = await exchange.answer;
    const { 'x-result-status': status = 0, 'idempotent-replayed': replayed, [COMPLETE_ANSWER_HEADER]: proof } = answer.headers;
    return {
      text: answer.text,
      resultStatus: Number(status),
      proof: typeof proof === 'string' ? proof : null,
      leavesTrace: answer.headers[NO_TRACE_HEADER] === undefined,
      isReplayed: replayed === 'true',
    };
  }

  async close(): Promise<void> {
    this.#wire?.close();
    await this.#pool?.close();
  }
}
