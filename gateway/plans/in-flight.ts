import { Kind, OperationTypeNode, type DocumentNode } from 'graphql';
import type { RequestInfo } from '../../runtime/request/request.js';
import { Answer } from './compiled/operation.js';
import type { Executor, FederatedOperation, FederatedResult, PreparedOperation } from './executor.js';
import { Line } from './flight.js';

const isMutation = ({ definitions }: DocumentNode): boolean =>
  definitions.some(one => one.kind === Kind.OPERATION_DEFINITION && one.operation !== OperationTypeNode.QUERY);

/** Names the caller, as far as an answer may depend on it. */
const callerKey = ({ token, caller }: RequestInfo): string =>
  token ?? `${caller.kind}:${caller.userId ?? ''}:${caller.clientId ?? ''}:${caller.serviceSlug ?? ''}`;

/** What no header holds. */
const ABSENT = '\u0001';

/** Everything of a query on which its answer may depend: what reaches the services, but the request's id and trace. No part holds U+0000. */
function keyOf({ key, operationName, variables }: FederatedOperation, request: RequestInfo): string {
  const { ip, idempotencyKey, ifMatch, guestToken, language, preview } = request;
  const proofs = `${idempotencyKey ?? ABSENT}\0${ifMatch ?? ABSENT}\0${guestToken ?? ABSENT}\0${preview ?? ABSENT}`;
  return `${key}\0${operationName ?? ''}\0${JSON.stringify(variables)}\0${callerKey(request)}\0${ip ?? ''}\0${language ?? ABSENT}\0${proofs}`;
}

/** Each request makes objects of its own from the text. */
const copyOf = ({ text, errors, extensions }: FederatedResult): FederatedResult =>
  new Answer(text!, errors as Answer['errors'], extensions);

/**
 * Answers equal queries that come while one like them is under way by one execution, which begins after the last of them has come. So none
 * gets an answer from before something that its caller has seen change, whichever process changed it and by whatever path. Never across
 * callers: the key holds the token, the address and everything else that is forwarded to subgraphs, except the request's id and trace.
 * A query that leaves a trace, an audit row or a count, does so for each who asked: those who waited for its answer ask themselves, and
 * none waits for that document again. A request that nothing ends is asked alone: a shared execution ends with the last who waits for it.
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

  execute(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    if (isMutation(operation.document)) return this.#mutate(operation, request);
    const { signal } = request;
    if (!this.shares || !signal || this.#alone.has(operation.document)) return this.next.execute(operation, request);
    const key = keyOf(operation, request);
    const line = this.#lines.get(key);
    return line ? this.#join(line, operation, request, signal) : this.#first(key, operation, request);
  }

  /** Runs to its end even when the client leaves, because half of it may be done. */
  #mutate(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    request.signal = null;
    return this.next.execute(operation, request);
  }

  async #first(key: string, operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    const line = new Line(this.#lines, key);
    try {
      return await this.next.execute(operation, request);
    } finally {
      line.ended();
    }
  }

  /** Another request's answer, or one of its own. @throws the signal's reason: who is not there any more is not among those who wait. */
  async #join(line: Line, operation: FederatedOperation, request: RequestInfo, signal: AbortSignal): Promise<FederatedResult> {
    signal.throwIfAborted();
    const flight = line.nextFor(request, one => this.next.execute(operation, one));
    const result = await flight.wait(signal);
    const { leavesTrace, status } = flight.request;
    if (flight.request === request) return result;
    const isObjects = result.text === undefined && result.data !== null; // the stock executor's, which are not shared
    if (leavesTrace || isObjects) this.#alone.add(operation.document);
    if (leavesTrace || result.text === undefined) return this.next.execute(operation, request);
    request.status = status;
    return copyOf(result);
  }
}
