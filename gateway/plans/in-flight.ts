import { Kind, OperationTypeNode, type DocumentNode } from 'graphql';
import type { RequestInfo } from '../../runtime/request/request.js';
import { Answer } from './compiled/operation.js';
import type { Executor, FederatedOperation, FederatedResult, PreparedOperation } from './executor.js';
import { Line, type Flight } from './flight.js';

const isMutation = ({ definitions }: DocumentNode): boolean =>
  definitions.some(one => one.kind === Kind.OPERATION_DEFINITION && one.operation !== OperationTypeNode.QUERY);

/** Names the caller, as far as an answer may depend on it. */
const callerKey = ({ token, caller }: RequestInfo): string =>
  token ?? `${caller.kind}:${caller.userId ?? ''}:${caller.clientId ?? ''}:${caller.serviceSlug ?? ''}`;

/** What else of a request reaches the services, so that an answer may depend on it. */
const carriedBy = ({ ip, idempotencyKey, ifMatch, guestToken, language, preview }: RequestInfo): readonly (string | null)[] => [
  ip,
  idempotencyKey,
  ifMatch,
  guestToken,
  language,
  preview,
];

const keyOf = ({ key, operationName, variables }: FederatedOperation, request: RequestInfo): string =>
  JSON.stringify([key, operationName, variables, callerKey(request), carriedBy(request)]);

/** Each request makes objects of its own from the text. */
const copyOf = ({ text, errors, extensions }: FederatedResult): FederatedResult =>
  new Answer(text!, errors as Answer['errors'], extensions);

/**
 * Answers equal queries that come while one like them is under way by one execution, which begins after the last of them has come. So none
 * gets an answer from before something that its caller has seen change, whichever process changed it and by whatever path. Never across
 * callers: the key holds the token, the address and everything else that is forwarded to subgraphs, except the request's id and trace.
 * A query that leaves a trace, an audit row or a count, does so for each who asked: those who waited for its answer ask themselves, and
 * none waits for that document again.
 */
export class InFlight implements Executor {
  readonly #lines = new Map<string, Line>();
  /** Documents whose answers are for nobody else. */
  readonly #alone = new WeakSet<DocumentNode>();

  /** @param shares whether one execution may answer several requests. */
  constructor(
    private readonly next: Executor,
    private readonly shares: boolean,
  ) {}

  prepare(operation: PreparedOperation): void {
    this.next.prepare?.(operation);
  }

  async execute(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    if (isMutation(operation.document)) return this.#mutate(operation, request);
    if (!this.shares || this.#alone.has(operation.document)) return this.next.execute(operation, request);
    const { signal } = request;
    const flight = this.#lineOf(operation, request).flightFor(request);
    const result = await flight.wait(signal);
    return flight.request === request ? result : this.#shared(result, flight, operation, request);
  }

  /** Runs to its end even when the client leaves, because half of it may be done. */
  #mutate(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    request.signal = null;
    return this.next.execute(operation, request);
  }

  #lineOf(operation: FederatedOperation, request: RequestInfo): Line {
    const key = keyOf(operation, request);
    const known = this.#lines.get(key);
    if (known) return known;
    const line = new Line(
      one => this.next.execute(operation, one),
      () => this.#lines.delete(key),
    );
    this.#lines.set(key, line);
    return line;
  }

  /** Another request's answer, or one of its own. */
  #shared(
    result: FederatedResult,
    { request: first }: Flight,
    operation: FederatedOperation,
    request: RequestInfo,
  ): FederatedResult | Promise<FederatedResult> {
    if (first.leavesTrace) this.#alone.add(operation.document);
    if (result.text === undefined || first.leavesTrace) return this.next.execute(operation, request); // the stock executor's objects are not shared
    request.status = first.status;
    return copyOf(result);
  }
}
