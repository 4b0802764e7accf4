import { Kind, OperationTypeNode, type DocumentNode, type GraphQLSchema, type SelectionNode } from 'graphql';
import { ruleOnNode } from '../../runtime/access/access.js';
import type { RequestInfo } from '../../runtime/request/request.js';
import { Answer } from './compiled/operation.js';
import type { Executor, FederatedOperation, FederatedResult, PreparedOperation } from './executor.js';

interface Flight {
  readonly answer: Promise<FederatedResult>;
  /** The request that runs; what it learns of its status is every joiner's. */
  readonly request: RequestInfo;
  /** Ends the work when nobody waits for it any more. */
  readonly controller: AbortController;
  /** Askers who are still there. */
  waiting: number;
}

/** The flight's answer for one asker, who may leave: then he is answered by his own reason, and the last one ends the work. */
function waitFor(flight: Flight, signal: AbortSignal | null): Promise<FederatedResult> {
  flight.waiting++;
  if (!signal) return flight.answer;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      if (--flight.waiting > 0) reject(signal.reason as Error);
      else flight.controller.abort(signal.reason); // what is there by then is the answer
    };
    signal.addEventListener('abort', leave, { once: true });
    void flight.answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

type Kinship = 'mutation' | 'shared' | 'alone';

/** What may be shared: queries whose root fields are not for services alone, because those may count how often they are asked. */
function kinshipOf(schema: GraphQLSchema, { definitions }: DocumentNode): Kinship {
  const operations = definitions.filter(one => one.kind === Kind.OPERATION_DEFINITION);
  if (operations.some(one => one.operation !== OperationTypeNode.QUERY)) return 'mutation';
  const fields = schema.getQueryType()!.getFields();
  const isOpen = (one: SelectionNode): boolean => one.kind === Kind.FIELD && !ruleOnNode(fields[one.name.value]?.astNode)?.internal?.length;
  return operations.every(one => one.selectionSet.selections.every(isOpen)) ? 'shared' : 'alone';
}

/** Who asks, as far as an answer may depend on it. */
const askerOf = ({ token, caller }: RequestInfo): string =>
  token ?? `${caller.kind}:${caller.userId ?? ''}:${caller.clientId ?? ''}:${caller.serviceSlug ?? ''}`;

/** Each asker makes objects of his own out of the text. */
const copyOf = ({ text, errors, extensions }: FederatedResult): FederatedResult =>
  new Answer(text!, errors as Answer['errors'], extensions);

/**
 * Answers queries that are equal and under way at the same time by one execution. Never across callers: the token, the address and
 * everything else that is forwarded is part of the key, the id and the trace of the request alone are not. A mutation that ends in
 * this process begins a new generation, so that nobody who has seen its answer joins a query that began before it.
 */
export class InFlight implements Executor {
  readonly #flights = new Map<string, Flight>();
  readonly #kinship = new WeakMap<DocumentNode, Kinship>();
  #generation = 0;

  constructor(
    private readonly next: Executor,
    private readonly supergraph: GraphQLSchema,
  ) {}

  prepare(operation: PreparedOperation): void {
    this.next.prepare?.(operation);
  }

  async execute(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    const kinship = this.#kinshipOf(operation.document);
    if (kinship === 'mutation') return this.#mutate(operation, request);
    if (kinship === 'alone') return this.next.execute(operation, request);
    const key = this.#keyOf(operation, request);
    const flight = this.#flights.get(key);
    if (!flight || flight.controller.signal.aborted) return this.#start(key, operation, request);
    const result = await waitFor(flight, request.signal);
    if (result.text === undefined) return this.next.execute(operation, request); // objects of the stock executor are not shared
    request.status = flight.request.status;
    return copyOf(result);
  }

  #kinshipOf(document: DocumentNode): Kinship {
    let known = this.#kinship.get(document);
    if (!known) this.#kinship.set(document, (known = kinshipOf(this.supergraph, document)));
    return known;
  }

  /** Runs to its end, whether its client waits or not: half of it may be done. */
  #mutate(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    request.signal = null;
    return this.next.execute(operation, request).finally(() => this.#generation++);
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

  #keyOf({ key, operationName, variables }: FederatedOperation, request: RequestInfo): string {
    const { ip, idempotencyKey } = request;
    return JSON.stringify([this.#generation, key, operationName, variables, askerOf(request), ip, idempotencyKey]);
  }
}
