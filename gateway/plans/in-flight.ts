import { Kind, OperationTypeNode, type DocumentNode } from 'graphql';
import type { RequestInfo } from '../../runtime/request/request.js';
import { Answer } from './compiled/operation.js';
import type { Changes } from './changes.js';
import type { Executor, FederatedOperation, FederatedResult, PreparedOperation } from './executor.js';

/** An execution under way, which several requests may wait for. */
interface Flight {
  readonly answer: Promise<FederatedResult>;
  /** The request that started it. The status that the operation sets on it holds for all who wait. */
  readonly request: RequestInfo;
  /** Ends the execution when no request waits any more. */
  readonly controller: AbortController;
  /** Number of requests that wait. */
  waiting: number;
}

/** The execution's answer for one request. When that one's client leaves, it fails with its own reason; the last one to leave ends the execution. */
function waitFor(flight: Flight, signal: AbortSignal | null): Promise<FederatedResult> {
  flight.waiting++;
  if (!signal) return flight.answer;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      if (--flight.waiting > 0) reject(signal.reason as Error);
      else flight.controller.abort(signal.reason); // the execution then ends with what it has
    };
    signal.addEventListener('abort', leave, { once: true });
    void flight.answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

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

/** Each request makes objects of its own from the text. */
const copyOf = ({ text, errors, extensions }: FederatedResult): FederatedResult =>
  new Answer(text!, errors as Answer['errors'], extensions);

/**
 * Answers equal queries that are under way at the same time by one execution. Never across callers: the key holds the token, the address
 * and everything else that is forwarded to subgraphs, except the request's id and trace. A query that leaves a trace, an audit row or a
 * count, does so for each who asked: those who waited for its answer ask themselves, and none waits for that document again. A change
 * whose answer somebody has seen in this process begins a new generation, so they never join a query that began before it.
 */
export class InFlight implements Executor {
  readonly #flights = new Map<string, Flight>();
  /** Documents whose answers are for nobody else. */
  readonly #alone = new WeakSet<DocumentNode>();

  /** @param changes null: nothing is shared, as where other processes answer for the same platform. */
  constructor(
    private readonly next: Executor,
    private readonly changes: Changes | null,
  ) {}

  prepare(operation: PreparedOperation): void {
    this.next.prepare?.(operation);
  }

  async execute(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    const { document } = operation;
    if (isMutation(document)) return this.#mutate(operation, request);
    if (!this.changes || this.#alone.has(document)) return this.next.execute(operation, request);
    const key = this.#keyOf(operation, request, this.changes);
    const flight = this.#flights.get(key);
    if (!flight || flight.controller.signal.aborted) return this.#start(key, operation, request);
    const result = await waitFor(flight, request.signal);
    if (flight.request.leavesTrace) this.#alone.add(document);
    if (result.text === undefined || flight.request.leavesTrace) return this.next.execute(operation, request); // the stock executor's objects are not shared
    request.status = flight.request.status;
    return copyOf(result);
  }

  /** Runs to its end even when the client leaves, because half of it may be done. */
  #mutate(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    request.signal = null;
    return this.next.execute(operation, request).finally(() => this.changes && this.changes.count++);
  }

  #start(key: string, operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    const [{ signal }, controller] = [request, new AbortController()];
    request.signal = controller.signal;
    const flight: Flight = {
      answer: this.next.execute(operation, request).finally(() => this.#end(key, flight)),
      request,
      controller,
      waiting: 0,
    };
    this.#flights.set(key, flight);
    return waitFor(flight, signal);
  }

  #end(key: string, flight: Flight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }

  #keyOf({ key, operationName, variables }: FederatedOperation, request: RequestInfo, { count }: Changes): string {
    return JSON.stringify([count, key, operationName, variables, callerKey(request), carriedBy(request)]);
  }
}
