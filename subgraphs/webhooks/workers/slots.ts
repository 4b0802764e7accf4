import { RateLimit } from '../rules/holding-back.js';
import { shardsOf } from '../rules/shards.js';
import type { Configuration } from '../commands/configuration.js';
import type { LaneKey } from '../commands/lanes.js';
import type { DueHead } from './work.js';

export interface InHand extends DueHead {
  /** Ends the request when its lane is another worker's. */
  abort: AbortController;
}

const laneOf = ({ subscriptionId, userId }: LaneKey): string => `${subscriptionId}:${userId}`;

/** What is in the air of this worker: one request per lane, so many per subscription and per second as it allows. Source: rule 19. */
export class Slots {
  readonly #lanes = new Map<string, InHand>();
  readonly #used = new Map<string, number>();
  readonly #rates = new Map<string, RateLimit>();

  /** @param holds whether this worker may send from a shard. */
  constructor(
    private readonly configuration: Configuration,
    private readonly holds: (shard: number) => boolean,
  ) {}

  get inHand(): InHand[] {
    return [...this.#lanes.values()];
  }

  /** Subscriptions with all their requests in the air. */
  full(): string[] {
    return [...this.#used].filter(([id, used]) => used >= this.#limitOf(id)).map(([id]) => id);
  }

  /** Subscriptions that have had their requests of this moment. */
  limited(): string[] {
    const now = performance.now();
    return [...this.#rates].filter(([, rate]) => !rate.allows(now)).map(([id]) => id);
  }

  /** Part of a subscription's users that are this worker's: those of the shards it holds. */
  #shareOf(id: string, spread: number): number {
    const parts = shardsOf(id, spread);
    return parts.filter(shard => this.holds(shard)).length / parts.length;
  }

  #limitOf(id: string): number {
    const subscription = this.configuration.get(id);
    return subscription ? Math.max(1, Math.floor(subscription.maxConcurrency * this.#shareOf(id, subscription.spread))) : 0;
  }

  /** The bucket of a subscription with a rate limit; made anew when the limit or this worker's share of it has changed. */
  #rateOf(id: string): RateLimit | null {
    const subscription = this.configuration.get(id);
    if (!subscription?.rateLimitPerSecond) {
      this.#rates.delete(id);
      return null;
    }
    const perSecond = Math.max(1, subscription.rateLimitPerSecond * this.#shareOf(id, subscription.spread));
    let rate = this.#rates.get(id);
    if (rate?.perSecond !== perSecond) this.#rates.set(id, (rate = new RateLimit(perSecond, performance.now())));
    return rate!;
  }

  /** Takes the lane and a slot for its head, if its subscription may be sent to now. Source: rules 6 and 19. */
  take(head: DueHead): boolean {
    const { subscriptionId: id } = head;
    const subscription = this.configuration.get(id);
    const used = this.#used.get(id) ?? 0;
    if (subscription?.status !== 'active' || !subscription.eventTypes.has(head.eventType) || used >= this.#limitOf(id)) return false;
    const rate = this.#rateOf(id);
    const now = performance.now();
    if (rate && head.attemptCount === 0 && !rate.allows(now)) return false;
    rate?.take(now);
    this.#used.set(id, used + 1);
    this.#lanes.set(laneOf(head), { ...head, abort: new AbortController() });
    return true;
  }

  /** The request of a lane; undefined when it was given back. */
  of(head: LaneKey): InHand | undefined {
    return this.#lanes.get(laneOf(head));
  }

  /** Gives a slot and its lane back. */
  free(head: DueHead): void {
    if (!this.#lanes.delete(laneOf(head))) return;
    const used = (this.#used.get(head.subscriptionId) ?? 1) - 1;
    if (used > 0) this.#used.set(head.subscriptionId, used);
    else this.#used.delete(head.subscriptionId);
  }
}
