import type { GraphQLSchema } from 'graphql';
import type { Executor } from './executor.js';
import type { Gateway } from './gateway.js';

/** A gateway with its two ways in. */
export interface FrontGateway extends Gateway {
  /** For the services' own questions. */
  executor: Executor;
  /** For clients: what is equal and under way at the same time runs once. */
  shared: Executor;
}

/** Who holds something that is made from a supergraph. */
export interface Follower {
  /** Prepares what it needs of the next gateway. @throws Error when it cannot live with it: then the reload is refused and nothing has changed. */
  accept?(next: FrontGateway): Promise<void>;
  /** Goes over to the next gateway, at once and without fail. */
  follow?(next: FrontGateway): void;
}

/**
 * The gateway that answers now, and its change for one of another supergraph without dropping a request: all followers accept the next
 * one while the present one answers, then all go over within one turn. A request that began on the old one ends on it.
 */
export class Gateways {
  #current: FrontGateway;
  readonly #byApiSchema = new WeakMap<GraphQLSchema, FrontGateway>();
  readonly #followers = new Set<Follower>();
  #changing: Promise<void> = Promise.resolve();

  constructor(first: FrontGateway) {
    this.#current = this.#known(first);
  }

  get current(): FrontGateway {
    return this.#current;
  }

  /** The gateway against whose API schema an operation was validated. */
  of(apiSchema: GraphQLSchema): FrontGateway {
    return this.#byApiSchema.get(apiSchema) ?? this.#current;
  }

  add(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  /** One change at a time. @throws Error of the follower that refused. */
  change(start: () => Promise<FrontGateway>): Promise<void> {
    const changed = this.#changing.then(async () => this.#changeTo(await start()));
    this.#changing = changed.catch(() => undefined);
    return changed;
  }

  async #changeTo(next: FrontGateway): Promise<void> {
    try {
      for (const follower of this.#followers) await follower.accept?.(next);
    } catch (error) {
      await next.stop();
      throw error;
    }
    const old = this.#current;
    this.#current = this.#known(next);
    for (const follower of this.#followers) follower.follow?.(next);
    await old.stop(); // ends its polling; what runs on it goes on
  }

  #known(gateway: FrontGateway): FrontGateway {
    this.#byApiSchema.set(gateway.apiSchema, gateway);
    return gateway;
  }
}
