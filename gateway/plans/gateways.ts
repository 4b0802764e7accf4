import type { GraphQLSchema } from 'graphql';
import type { Executor } from './executor.js';
import type { Gateway } from './gateway.js';

/** A gateway in use. Its `executor` runs the operations of services. */
export interface ServingGateway extends Gateway {
  /** Runs the operations of clients: equal queries that are under way at the same time run once. */
  clientExecutor: Executor;
}

/** A part that holds something made from a supergraph. */
interface Follower {
  /** Prepares what it needs of the next gateway. @throws Error when the next supergraph does not fit it: the reload fails and nothing has changed. */
  accept?(next: ServingGateway): Promise<void>;
  /** Switches to the next gateway. Synchronous, must not fail. */
  follow?(next: ServingGateway): void;
}

/**
 * The gateway that answers, and its replacement by one of another supergraph without dropping a request: all followers accept the next
 * one while the current one answers, then all switch within one turn of the event loop. A request ends on the gateway on which it began.
 */
export class Gateways {
  #current: ServingGateway;
  readonly #byApiSchema = new WeakMap<GraphQLSchema, ServingGateway>();
  readonly #followers = new Set<Follower>();
  #changing: Promise<void> = Promise.resolve();

  constructor(first: ServingGateway) {
    this.#current = this.#remember(first);
  }

  get current(): ServingGateway {
    return this.#current;
  }

  /** The gateway against whose API schema an operation was validated. */
  of(apiSchema: GraphQLSchema): ServingGateway {
    return this.#byApiSchema.get(apiSchema) ?? this.#current;
  }

  add(follower: Follower): void {
    this.#followers.add(follower);
  }

  /** Replaces the gateway; one replacement at a time. @throws Error of the start, or of the follower that does not accept. */
  change(start: () => Promise<ServingGateway>): Promise<void> {
    const changed = this.#changing.then(async () => this.#changeTo(await start()));
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  async #changeTo(next: ServingGateway): Promise<void> {
    for (const follower of this.#followers) await follower.accept?.(next);
    this.#current = this.#remember(next);
    for (const follower of this.#followers) follower.follow?.(next);
  }

  #remember(gateway: ServingGateway): ServingGateway {
    this.#byApiSchema.set(gateway.apiSchema, gateway);
    return gateway;
  }
}
