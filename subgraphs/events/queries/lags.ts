import type { ServiceHost } from '../../../runtime/host.js';

/**
 * How long events have waited for each active consumer, in a queue or in hand, s. Where nobody knows how old the first is (a replay's are
 * old by nature) it counts since when the consumer was never seen without any.
 */
export class Lags {
  readonly #waitingSince = new Map<string, number>();

  async look(host: ServiceHost): Promise<Map<string, number>> {
    const consumers = await host.read(ctx => ctx.sql<{ name: string }>(`select name from events.consumer where status = 'active'`));
    const lags = await Promise.all(consumers.map(async ({ name }) => [name, await this.#lagOf(host, name)] as const));
    return new Map(lags);
  }

  async #lagOf({ transport }: ServiceHost, name: string): Promise<number> {
    const { ready, unacked, oldestAt } = await transport.depth(name);
    const now = Date.now(); // system time: so are the ids of events
    if (ready + unacked === 0) this.#waitingSince.delete(name);
    else if (!this.#waitingSince.has(name)) this.#waitingSince.set(name, now);
    return Math.max(0, now - (oldestAt?.getTime() ?? this.#waitingSince.get(name) ?? now)) / 1000;
  }
}
